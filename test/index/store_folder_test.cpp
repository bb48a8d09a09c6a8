// SPDX-License-Identifier: Apache-2.0
#include "index/store_rig.hpp"
#include <atelier/index/store/store_folder.hpp>

#include <boost/test/unit_test.hpp>

#include <fstream>

namespace {

using namespace atelier;
namespace fs = std::filesystem;
using core::ec;
using test::code_of;
using test::entry_bytes;
using test::kept_states;

struct filled_folder : test::store_folder {
  filled_folder() {
    auto with = options();
    int64_t date = 1'000;
    with.date = [&] { return ++date; };
    const auto sut = open(with);
    for (uint32_t i = 1; i <= 3; ++i)
      BOOST_REQUIRE(sut->keep(
        "k", "a red fox", kept_states({100, 50}, i, core::tenant_id{i % 2})));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(store_folder_test, filled_folder)

BOOST_AUTO_TEST_CASE(its_facts_are_told) {
  const auto x = *index::facts_of_store(path());
  BOOST_TEST(x.entries == 3u);
  BOOST_TEST(x.payload_bytes == 450u);
  BOOST_TEST(x.bytes == 450 + 3 * (entry_bytes + 10));
  BOOST_TEST(x.tenants == 2u);
  BOOST_TEST(x.images == 0u);
  BOOST_TEST(x.oldest == 1'001);
  BOOST_TEST(x.newest == 1'003);
}

BOOST_AUTO_TEST_CASE(every_damage_is_told_and_nothing_changed) {
  BOOST_TEST(index::verify_store(path())->is_sound());
  const auto payload = path() / "payload";
  fs::remove(payload / "01" / "0000000000000001");
  fs::resize_file(payload / "02" / "0000000000000002", 149);
  {
    std::ofstream file{payload / "03" / "0000000000000003",
                       std::ios::in | std::ios::binary};
    file.seekp(120);
    file.put('?');
  }
  std::ofstream{payload / "03" / "0000000000000f03"} << "x";
  for (int i = 0; i < 2; ++i) {
    const auto x = *index::verify_store(path());
    BOOST_TEST(!x.is_sound());
    BOOST_TEST(x.rows == "");
    BOOST_TEST(x.checked == 3u);
    BOOST_TEST(x.files_without_entry == 1u);
    BOOST_REQUIRE(x.entries.size() == 3u);
    BOOST_TEST(x.entries[0].entry == 1u);
    BOOST_TEST(x.entries[0].why == "its file is missing");
    BOOST_TEST(x.entries[1].why == "its file has 149 bytes, not 150");
    BOOST_TEST(x.entries[2].why
               == "the bytes of its state after 10 steps have changed");
  }
}

BOOST_AUTO_TEST_CASE(it_is_cleared) {
  BOOST_TEST(*index::clear_store(path()) == 3u);
  BOOST_TEST(files().empty());
  BOOST_TEST((code_of(index::facts_of_store(path())) == ec::not_found));
  BOOST_TEST(open()->counts().entries == 0u);
}

BOOST_AUTO_TEST_CASE(it_is_cleared_of_one_tenant) {
  BOOST_TEST(*index::clear_store(path(), {core::tenant_id{7}, {}}) == 0u);
  BOOST_TEST(*index::clear_store(path(), {core::tenant_id{1}, {}}) == 2u);
  const auto left = *index::verify_store(path());
  BOOST_TEST(left.is_sound());
  BOOST_TEST(left.checked == 1u);
  BOOST_TEST(left.files_without_entry == 0u);
  BOOST_TEST(open()->counts().entries == 1u);
}

BOOST_AUTO_TEST_CASE(it_is_cleared_of_old_entries) {
  BOOST_TEST(*index::clear_store(path(), {{}, 1'001}) == 0u);
  BOOST_TEST(*index::clear_store(path(), {core::tenant_id{0}, 1'003}) == 1u);
  BOOST_TEST(*index::clear_store(path(), {{}, 1'003}) == 1u);
  const auto left = *index::verify_store(path());
  BOOST_TEST(left.is_sound());
  BOOST_TEST(left.checked == 1u);
}

BOOST_AUTO_TEST_CASE(rows_that_are_damaged_are_told_and_can_be_cleared) {
  const auto rows = path() / "cache.sqlite";
  const auto remedy = "; to begin with an empty cache: atelier cache clear "
                      "--folder '"
                    + path().string() + "'";
  for (const auto* why :
       {"file is not a database", "database disk image is malformed"}) {
    if (std::string_view{why}.starts_with("file"))
      std::ofstream{rows} << std::string(5'000, 'x');
    else
      std::filesystem::resize_file(rows, 5'000);
    const auto expected = rows.string() + ": " + why + remedy;
    for (const auto& refused : {index::verify_store(path()).why(),
                                index::store::open(options()).why()}) {
      BOOST_TEST((refused.code == ec::io_failed));
      BOOST_TEST(refused.text == expected);
    }
    BOOST_TEST(*index::clear_store(path()) == 3u);
    const auto sut = open();
    BOOST_TEST(sut->counts().entries == 0u);
    for (const auto* text : {"a red fox", "a blue owl", "a tree"})
      BOOST_REQUIRE(sut->keep("k", text, kept_states({100})));
  }
}

BOOST_AUTO_TEST_CASE(rows_without_a_folder_of_payloads_are_cleared) {
  fs::remove_all(path() / "payload");
  BOOST_TEST(*index::clear_store(path()) == 0u);
  BOOST_TEST(open()->counts().entries == 0u);
}

BOOST_AUTO_TEST_CASE(a_folder_in_use_or_without_a_store_is_refused) {
  BOOST_TEST((code_of(index::clear_store(path() / "x")) == ec::not_found));
  const auto used = open();
  BOOST_TEST((code_of(index::facts_of_store(path())) == ec::unavailable));
  BOOST_TEST((code_of(index::verify_store(path())) == ec::unavailable));
  BOOST_TEST((code_of(index::clear_store(path())) == ec::unavailable));
  BOOST_TEST(used->counts().entries == 3u);
}

// A file without its log is only half of the rows.
BOOST_AUTO_TEST_CASE(the_file_of_rows_leaves_before_its_log) {
  {
    const auto sut = open();
    BOOST_REQUIRE(sut->keep("k", "a red fox", kept_states({100})));
  }
  // A log that cannot be removed stops it there.
  const auto log = path() / "cache.sqlite-wal";
  std::filesystem::create_directories(log / "in use");
  BOOST_TEST((code_of(index::clear_store(path())) == ec::io_failed));
  BOOST_TEST(!std::filesystem::exists(path() / "cache.sqlite"));
  std::filesystem::remove_all(log);
  std::ofstream{log} << "what a log of the file says";
  const auto sut = open();
  BOOST_TEST(sut->counts().entries == 0u);
  BOOST_TEST(files().empty());
}

BOOST_AUTO_TEST_SUITE_END()
