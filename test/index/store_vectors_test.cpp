// SPDX-License-Identifier: Apache-2.0

// The vectors of texts that a store keeps for its next start.

#include "index/store_rig.hpp"
#include <atelier/index/store/detail/catalog.hpp>
#include <atelier/index/text_encoder.hpp>

#include <boost/test/unit_test.hpp>

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace atelier;
using test::kept_states;
using test::nearest_of;

namespace {

/// Distinguishes texts by their first letter, and counts the texts that it
/// reads.
class by_letter final : public index::text_encoder {
public:
  explicit by_letter(std::string identity) : identity_(std::move(identity)) {}

  std::string_view name() const override {
    return "letters";
  }

  std::string identity() const override {
    return identity_;
  }

  size_t dimensions() const override {
    return 26;
  }

  core::result<std::vector<float>> encode(
    std::string_view text) const override {
    ++read;
    if (text.starts_with("fail"))
      return core::fail(core::ec::internal, "no network");
    std::vector<float> out(dimensions(), 0.0F);
    out[static_cast<size_t>(text.front() - 'a') % out.size()] = 1;
    return out;
  }

  mutable uint64_t read = 0;

private:
  const std::string identity_;
};

struct vectors_fixture {
  std::shared_ptr<index::store> open(const std::string& identity) {
    encoder = std::make_shared<by_letter>(identity);
    auto with = folder.options();
    with.encoder = encoder;
    return folder.open(with);
  }

  /// Opens the store again, and returns how many texts it encoded.
  uint64_t read_by_a_start(const std::string& identity) {
    const auto sut = open(identity);
    const auto read = encoder->read;
    BOOST_TEST(nearest_of(*sut, "apple") == 1u);
    BOOST_TEST(nearest_of(*sut, "bread") == 2u);
    return read;
  }

  void fill(const std::string& identity) {
    const auto sut = open(identity);
    BOOST_TEST_REQUIRE(sut->keep("k", "a red fox", kept_states({8})));
    BOOST_TEST_REQUIRE(sut->keep("k", "blue", kept_states({8})));
  }

  void run(const std::string& statements) const {
    sqlite3* db = nullptr;
    const auto file = folder.path() / "cache.sqlite";
    BOOST_REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
    const int result =
      sqlite3_exec(db, statements.c_str(), nullptr, nullptr, nullptr);
    BOOST_TEST(result == SQLITE_OK, sqlite3_errmsg(db));
    sqlite3_close(db);
  }

  uint64_t rows() const {
    uint64_t out = 0;
    const auto sut =
      index::detail::catalog::open(folder.path() / "cache.sqlite");
    BOOST_TEST_REQUIRE(bool{sut});
    BOOST_TEST(bool{sut->read_vectors([&](const auto&) { ++out; })});
    return out;
  }

  test::store_folder folder;
  std::shared_ptr<by_letter> encoder;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(store_vectors_test, vectors_fixture)

BOOST_AUTO_TEST_CASE(a_start_reads_no_text_whose_vector_is_kept) {
  fill("one");
  BOOST_TEST(rows() == 2u);
  BOOST_TEST(read_by_a_start("one") == 0u);
}

BOOST_AUTO_TEST_CASE(another_encoder_reads_every_text_once) {
  fill("one");
  BOOST_TEST(read_by_a_start("two") == 2u);
  BOOST_TEST(read_by_a_start("two") == 0u);
  BOOST_TEST(read_by_a_start("one") == 2u);
}

BOOST_AUTO_TEST_CASE(vectors_that_are_not_worth_it_are_not_kept) {
  fill({});
  BOOST_TEST(rows() == 0u);
  BOOST_TEST(read_by_a_start({}) == 2u);
}

BOOST_AUTO_TEST_CASE(a_vector_that_is_damaged_or_missing_is_made_again) {
  fill("one");
  run("UPDATE vectors SET vector = zeroblob(104) WHERE entry = 1");
  BOOST_TEST(read_by_a_start("one") == 1u);
  run("UPDATE vectors SET vector = x'00' WHERE entry = 1");
  BOOST_TEST(read_by_a_start("one") == 1u);
  run("DELETE FROM vectors WHERE entry = 2");
  BOOST_TEST(read_by_a_start("one") == 1u);
  // Older programs leave files like this.
  run("DROP TABLE vectors");
  BOOST_TEST(read_by_a_start("one") == 2u);
  BOOST_TEST(read_by_a_start("one") == 0u);
}

BOOST_AUTO_TEST_CASE(vectors_leave_with_their_entries) {
  fill("one");
  open("one")->drop_torn(1);
  BOOST_TEST(rows() == 1u);
  // An older program removes only the entry.
  run("DELETE FROM entries WHERE number = 2; DELETE FROM parts");
  BOOST_TEST(rows() == 0u);
}

BOOST_AUTO_TEST_CASE(a_text_that_cannot_be_read_does_not_hide_its_batch) {
  {
    const auto sut = open({});
    BOOST_TEST_REQUIRE(sut->keep("k", "a red fox", kept_states({8})));
    BOOST_TEST_REQUIRE(sut->keep("k", "blue", kept_states({8})));
    BOOST_TEST_REQUIRE(sut->keep("k", "cat", kept_states({8})));
  }
  run("UPDATE entries SET text = 'fail' WHERE number = 3");
  const auto sut = open("one");
  BOOST_TEST(nearest_of(*sut, "apple") == 1u);
  BOOST_TEST(nearest_of(*sut, "bread") == 2u);
  BOOST_TEST(nearest_of(*sut, "cow") == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
