// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/database.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace atelier::core;

namespace {

struct fixture {
  fixture() {
    sut.run("CREATE TABLE t(n INTEGER, text TEXT, bytes BLOB)");
  }

  int64_t rows() {
    return sut.number("SELECT count(*) FROM t");
  }

  /// Only in memory.
  database sut{":memory:"};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(database_test, fixture)

BOOST_AUTO_TEST_CASE(values_are_read_as_they_were_written) {
  const std::string text{"a\0b", 3};
  const std::vector<uint8_t> bytes{0, 255, 7};
  statement add{sut, "INSERT INTO t VALUES(?, ?, ?)"};
  add.put(INT64_MIN).put(text).put(std::span{bytes}).run();
  add.put(2).put(std::string_view{}).put(std::span<const uint8_t>{}).run();
  statement all{sut, "SELECT n, text, bytes FROM t WHERE n < ? ORDER BY n"};
  for (int i = 0; i < 2; ++i) {
    all.put(9);
    BOOST_TEST_REQUIRE(all.next());
    BOOST_TEST(all.get_number(0) == INT64_MIN);
    BOOST_TEST(all.get_text(1) == text);
    BOOST_TEST(all.get_bytes(2) == bytes);
    BOOST_TEST_REQUIRE(all.next());
    BOOST_TEST(all.get_text(1) == "");
    BOOST_TEST(!all.next());
    all.reset();
  }
}

BOOST_AUTO_TEST_CASE(changes_are_made_as_a_whole_or_not_at_all) {
  sut.at_once([&] { sut.run("INSERT INTO t(n) VALUES(1)"); });
  BOOST_TEST(rows() == 1);
  BOOST_CHECK_THROW(sut.at_once([&] {
    sut.run("INSERT INTO t(n) VALUES(2)");
    sut.run("INSERT INTO none VALUES(2)");
  }),
                    database_error);
  BOOST_TEST(rows() == 1);
  sut.at_once([&] { sut.run("INSERT INTO t(n) VALUES(3)"); });
  BOOST_TEST(rows() == 2);
}

BOOST_AUTO_TEST_CASE(any_exception_undoes_the_changes) {
  const auto fail_by = [&](const auto& what) {
    sut.at_once([&] {
      sut.run("INSERT INTO t(n) VALUES(1)");
      throw what;
    });
  };
  BOOST_CHECK_THROW(fail_by(std::bad_alloc{}), std::bad_alloc);
  BOOST_CHECK_THROW(fail_by(7), int);
  BOOST_TEST(rows() == 0);
  sut.at_once([&] { sut.run("INSERT INTO t(n) VALUES(2)"); });
  BOOST_TEST(rows() == 1);
}

BOOST_AUTO_TEST_CASE(a_fault_says_what_sqlite_says) {
  BOOST_CHECK_EXCEPTION(statement(sut, "SELECT * FROM none"), database_error,
                        [](const auto& e) {
                          return std::string{e.what()} == "no such table: none";
                        });
  BOOST_CHECK_THROW(database{"/nowhere/x"}, database_error);
}

BOOST_AUTO_TEST_SUITE_END()
