// SPDX-License-Identifier: Apache-2.0

// The parts of a store, each by itself.

#include "index/raw_catalog.hpp"
#include "index/store_rig.hpp"
#include <atelier/core/tenant.hpp>
#include <atelier/index/detail/breaker.hpp>
#include <atelier/index/detail/hot_payloads.hpp>
#include <atelier/index/store/detail/catalog.hpp>
#include <atelier/index/store/detail/folder_lock.hpp>
#include <atelier/index/store/detail/payload_files.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <fstream>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using core::ec;
using index::detail::breaker;
using index::detail::catalog;
using index::detail::entry_row;
using index::detail::folder_lock;
using index::detail::hot_payloads;
using index::detail::hot_shelves;
using index::detail::numbered_part;
using index::detail::numbered_uses;
using index::detail::payload_files;
using test::code_of;
using test::filled_bytes;

struct parts_fixture {
  parts_fixture() {
    fs::create_directory(folder.path());
  }

  fs::path file() const {
    return folder.path() / "cache.sqlite";
  }

  void run(const std::string& statements) const {
    test::change_catalog(file(), statements);
  }

  /// Makes a file of an older version.
  void open_version(size_t version) const {
    BOOST_REQUIRE(
      catalog::open(file(), index::detail::catalog_versions().first(version)));
  }

  static std::vector<entry_row> rows_of(const catalog& x) {
    std::vector<entry_row> out;
    BOOST_REQUIRE(x.read([&](entry_row row) { out.push_back(row); }));
    return out;
  }

  static entry_row row(uint64_t number, uint64_t used,
                       uint64_t saved_steps = 0) {
    entry_row x;
    x.number = number;
    x.key = std::string{"\0key\xff", 5};
    x.text = "a red fox";
    x.whose = core::tenant_of("alice");
    x.depth = 2;
    x.px = {64, 48};
    x.made = 1'700'000'000;
    x.uses = {used, saved_steps};
    x.file_bytes = 30;
    x.parts = {{0, 10, 0xffff'ffff'ffff'fff0u, 0}, {5, 20, 7, 10, {3, 15}}};
    return x;
  }

  test::store_folder folder;
};

index::payload payload_of(size_t bytes) {
  return std::make_shared<const std::vector<std::byte>>(bytes);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(store_parts_test, parts_fixture)

BOOST_AUTO_TEST_CASE(a_disk_that_fails_is_left_out_and_tried_again) {
  breaker sut{2, 10s};
  const core::time_point t{100s};
  BOOST_TEST(!sut.failed(t));
  BOOST_TEST(sut.lets_through(t));
  BOOST_TEST(sut.failed(t));
  BOOST_TEST(!sut.lets_through(t + 9s));
  BOOST_TEST(sut.lets_through(t + 10s));
  // The only try fails.
  BOOST_TEST(sut.failed(t + 10s));
  BOOST_TEST(!sut.lets_through(t + 19s));
  BOOST_TEST(sut.worked());
  BOOST_TEST(sut.lets_through(t + 11s));
  BOOST_TEST(!sut.worked());
  // Failures count only in a row.
  BOOST_TEST(!sut.failed(t));
}

BOOST_AUTO_TEST_CASE(copies_are_bounded_and_the_least_recently_used_leave) {
  hot_payloads sut{100};
  sut.put(1, 5, payload_of(40));
  sut.put(1, 10, payload_of(40));
  BOOST_TEST(sut.find(1, 5) != nullptr);
  sut.put(2, 0, payload_of(30));
  BOOST_TEST(sut.bytes() == 70u);
  BOOST_TEST(sut.find(1, 10) == nullptr);
  BOOST_TEST(sut.find(1, 5)->size() == 40u);
  sut.put(3, 0, payload_of(101));
  BOOST_TEST(sut.find(3, 0) == nullptr);
  BOOST_TEST(sut.bytes() == 70u);
  sut.put(1, 5, payload_of(50));
  BOOST_TEST(sut.bytes() == 80u);
  sut.put(1, 10, payload_of(10));
  sut.drop(1, 10);
  sut.drop(1, 15);
  BOOST_TEST(sut.find(1, 10) == nullptr);
  BOOST_TEST(sut.find(1, 5) != nullptr);
  BOOST_TEST(sut.bytes() == 80u);
  sut.drop(1);
  BOOST_TEST(sut.find(1, 5) == nullptr);
  BOOST_TEST(sut.bytes() == 30u);
  sut.drop(1);
  hot_payloads none{0};
  none.put(1, 5, payload_of(1));
  BOOST_TEST(none.find(1, 5) == nullptr);
}

BOOST_AUTO_TEST_CASE(divided_copies_of_a_tenant_depend_on_no_other) {
  const auto is_there = [](hot_shelves& in, const char* tenant,
                           uint64_t entry) {
    auto* const shelf = in.shelf_of(tenant);
    return shelf != nullptr && shelf->find(entry, 0) != nullptr;
  };
  for (const uint64_t parts : {0U, 2U}) {
    hot_shelves sut{100, parts};
    sut.shelf_of("ann")->put(1, 0, payload_of(40));
    sut.shelf_of("ben")->put(2, 0, payload_of(40));
    sut.shelf_of("ben")->put(3, 0, payload_of(40));
    BOOST_TEST(is_there(sut, "ann", 1) == (parts > 0));
    BOOST_TEST(is_there(sut, "ben", 2) == (parts == 0));
    BOOST_TEST(is_there(sut, "ben", 3));
    BOOST_TEST((sut.shelf_of("cas") == nullptr) == (parts > 0));
    // A shelf that is empty makes room for another tenant's.
    sut.drop("ben", 3);
    sut.drop("ben", 9);
    BOOST_TEST(!is_there(sut, "ben", 3));
    sut.drop("ann", 1);
    BOOST_TEST(sut.shelf_of("cas") != nullptr);
  }
}

BOOST_AUTO_TEST_CASE(a_payload_file_is_private_and_read_by_parts) {
  const payload_files sut{folder.path()};
  const auto first = filled_bytes(10, 1);
  const auto second = filled_bytes(20, 2);
  const std::array<std::span<const std::byte>, 2> parts{first, second};
  BOOST_REQUIRE(sut.write(0x1234, parts));
  const auto path = sut.path_of(0x1234);
  BOOST_TEST(path == folder.path() / "34" / "0000000000001234");
  BOOST_TEST((fs::status(path).permissions() == fs::perms{0600}));
  BOOST_TEST((fs::status(path.parent_path()).permissions() == fs::perms{0700}));
  BOOST_TEST((*sut.read(0x1234, 10, 20) == second));
  BOOST_TEST((code_of(sut.read(0x1234, 10, 21)) == ec::bad_payload));
  BOOST_TEST((code_of(sut.read(0x1234, UINT64_MAX, 2)) == ec::bad_payload));
  BOOST_TEST((code_of(sut.read(0x1235, 0, 1)) == ec::not_found));
  std::ofstream{path.parent_path() / ".atelier-1-0.part"} << "x";
  std::ofstream{path.parent_path() / "notes.txt"} << "x";
  // In the wrong folder the file belongs to no entry.
  std::ofstream{path.parent_path() / "0000000000001235"} << "x";
  const auto there = *sut.list();
  BOOST_TEST((there.sizes == std::map<uint64_t, uint64_t>{{0x1234, 30}}));
  BOOST_TEST(there.unfinished.size() == 1u);
  BOOST_TEST((code_of(sut.remove(0x1234)) == ec::none));
  BOOST_TEST((code_of(sut.remove(0x1234)) == ec::none));
  BOOST_TEST(!fs::exists(path));
}

BOOST_AUTO_TEST_CASE(a_part_of_a_file_can_be_freed) {
  constexpr size_t part = 1 << 18;
  const payload_files sut{folder.path()};
  const auto first = filled_bytes(part, 1);
  const auto second = filled_bytes(part, 2);
  const std::array<std::span<const std::byte>, 2> parts{first, second};
  BOOST_REQUIRE(sut.write(7, parts));
  const auto blocks = test::blocks_of(sut.path_of(7));
  const auto freed = sut.free(7, 0, part);
  BOOST_TEST_REQUIRE(bool{freed}, (freed ? "" : freed.why().text));
  BOOST_TEST(test::blocks_of(sut.path_of(7)) <= blocks / 2);
  BOOST_TEST((*sut.read(7, part, part) == second));
  BOOST_TEST((*sut.read(7, 0, part) == std::vector<std::byte>(part)));
  BOOST_TEST(sut.list()->sizes.at(7) == 2 * part);
  // A second time changes nothing.
  BOOST_TEST((code_of(sut.free(7, 0, part)) == ec::none));
  BOOST_TEST((code_of(sut.free(8, 0, part)) == ec::io_failed));
}

BOOST_AUTO_TEST_CASE(a_folder_has_one_user) {
  std::optional<folder_lock> first = *folder_lock::take(folder.path());
  const auto second = folder_lock::take(folder.path());
  BOOST_REQUIRE(!second);
  BOOST_TEST((second.why().code == ec::unavailable));
  BOOST_TEST(second.why().text.find(folder.path().string())
             != std::string::npos);
  BOOST_TEST(second.why().text.find("process " + std::to_string(getpid()))
             != std::string::npos);
  first.reset();
  BOOST_TEST((code_of(folder_lock::take(folder.path())) == ec::none));
}

BOOST_AUTO_TEST_CASE(rows_are_read_as_they_were_written) {
  {
    const auto sut = *catalog::open(file());
    BOOST_TEST(*sut.last_number() == 0u);
    BOOST_REQUIRE(sut.add(row(7, 3), {}));
    const std::array uses{numbered_uses{7, {9, 25}},
                          numbered_uses{100, {10, 5}}};
    BOOST_REQUIRE(sut.add(row(8, 4), uses));
    BOOST_TEST(!sut.add(row(8, 5), {}));
  }
  BOOST_TEST((fs::status(file()).permissions() == fs::perms{0600}));
  const auto sut = *catalog::open(file());
  BOOST_TEST((rows_of(sut) == std::vector{row(8, 4), row(7, 9, 25)}));
  const std::array uses{numbered_uses{8, {11, 0}}};
  BOOST_REQUIRE(sut.note(uses));
  BOOST_TEST((rows_of(sut) == std::vector{row(7, 9, 25), row(8, 11)}));
  const std::array<uint64_t, 2> gone{8, 100};
  BOOST_REQUIRE(sut.remove(gone));
  BOOST_TEST((rows_of(sut) == std::vector{row(7, 9, 25)}));
  const std::array by_parts{
    numbered_uses{7, {12, 35}, {{0, {1, 0}}, {5, {12, 10}}, {6, {9, 9}}}}};
  BOOST_REQUIRE(sut.note(by_parts));
  auto used = row(7, 12, 35);
  used.parts[0].uses = {1, 0};
  used.parts[1].uses = {12, 10};
  BOOST_TEST((rows_of(sut) == std::vector{used}));
  // A payload leaves alone, and the others stay where they are.
  const std::array alone{numbered_part{7, 0}, numbered_part{7, 6}};
  BOOST_REQUIRE(sut.remove({}, alone));
  used.parts.erase(used.parts.begin());
  BOOST_TEST((rows_of(sut) == std::vector{used}));
  // A number is not used twice.
  BOOST_TEST(*sut.last_number() == 8u);
  BOOST_TEST(*sut.faults() == "");
}

BOOST_AUTO_TEST_CASE(an_older_version_is_upgraded) {
  const auto newest = index::detail::catalog_versions();
  const std::vector<std::string_view> first{newest.begin(), newest.end()};
  {
    const auto sut = *catalog::open(file(), first);
    BOOST_REQUIRE(sut.add(row(7, 3), {}));
  }
  auto second = first;
  second.push_back("CREATE TABLE more(x); INSERT INTO more VALUES(5);");
  {
    const auto sut = *catalog::open(file(), second);
    BOOST_TEST((rows_of(sut) == std::vector{row(7, 3)}));
  }
  run("UPDATE more SET x = 6");
  // It is not upgraded a second time.
  BOOST_TEST((code_of(catalog::open(file(), second)) == ec::none));
  // For the old program it is a newer version.
  const auto refused = catalog::open(file(), first);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.why().code == ec::incompatible));
  BOOST_TEST(refused.why().text.find("is of version 6, and this program knows "
                                     "1..5")
               != std::string::npos,
             refused.why().text);
}

// Version 1 did not count the steps that uses skipped.
BOOST_AUTO_TEST_CASE(entries_of_the_first_version_have_skipped_nothing) {
  open_version(1);
  run("INSERT INTO entries VALUES(7, 'k', 'a red fox', 0, 0, 64, 48, 9, 3)");
  const auto sut = *catalog::open(file());
  const auto rows = rows_of(sut);
  BOOST_REQUIRE(rows.size() == 1u);
  BOOST_TEST(rows[0].made == 9);
  BOOST_TEST((rows[0].uses == index::detail::entry_uses{3, 0}));
  const std::array uses{numbered_uses{7, {4, 10}}};
  BOOST_REQUIRE(sut.note(uses));
  BOOST_TEST((rows_of(sut)[0].uses == uses[0].uses));
}

// Version 2 counted for whole entries, whose files had no gaps.
BOOST_AUTO_TEST_CASE(uses_of_the_second_version_are_shared_out) {
  open_version(2);
  run("INSERT INTO entries"
      " VALUES(7, 'k', 'a red fox', 0, 0, 64, 48, 9, 3, 70),"
      " (8, 'k', 'a red fox', 0, 0, 64, 48, 9, 4, 30);"
      "INSERT INTO parts VALUES(7, 0, 100, 1), (7, 10, 20, 2), (7, 25, 30, 3),"
      " (8, 0, 50, 4)");
  const auto sut = *catalog::open(file());
  const auto rows = rows_of(sut);
  BOOST_REQUIRE(rows.size() == 2u);
  BOOST_TEST(rows[0].file_bytes == 150u);
  BOOST_TEST(rows[1].file_bytes == 50u);
  using part_rows = std::vector<index::detail::part_row>;
  const part_rows first{{0, 100, 1, 0, {3, 0}},
                        {10, 20, 2, 100, {3, 20}},
                        {25, 30, 3, 120, {3, 50}}};
  BOOST_TEST((rows[0].parts == first));
  BOOST_TEST((rows[1].parts == part_rows{{0, 50, 4, 0, {4, 30}}}));
}

// Version 3 knew tenants by 32 bits, which also ended their keys.
BOOST_AUTO_TEST_CASE(named_tenants_of_the_third_version_leave) {
  open_version(3);
  run("INSERT INTO entries VALUES"
      "(7, x'6100ff00000000', 'a red fox', 0, 0, 64, 48, 9, 3, 70, 10),"
      "(8, x'6100ff72216d87', 'a red fox', 2267160967, 0, 64, 48, 9, 4, 30, 9);"
      "INSERT INTO parts VALUES(7, 5, 10, 1, 0, 3, 0), (8, 5, 9, 2, 0, 4, 0)");
  for (int starts = 0; starts < 2; ++starts) {
    const auto sut = *catalog::open(file());
    const auto rows = rows_of(sut);
    BOOST_TEST_REQUIRE(rows.size() == 1u);
    BOOST_TEST(rows[0].number == 7u);
    BOOST_TEST((rows[0].whose == core::tenant_id{}));
    BOOST_TEST(
      (rows[0].key == std::string{"a\0\xff", 3} + std::string(16, '\0')));
    BOOST_TEST(rows[0].parts.size() == 1u);
    BOOST_TEST(*sut.last_number() == 8u);
  }
}

BOOST_AUTO_TEST_CASE(an_upgrade_that_fails_leaves_the_old_version) {
  const auto newest = index::detail::catalog_versions();
  std::vector<std::string_view> steps{newest.begin(), newest.end()};
  {
    const auto sut = *catalog::open(file(), steps);
    BOOST_REQUIRE(sut.add(row(7, 3), {}));
  }
  auto broken = steps;
  broken.push_back("CREATE TABLE more(x); this is no statement");
  BOOST_TEST((code_of(catalog::open(file(), broken)) == ec::io_failed));
  const auto sut = *catalog::open(file(), steps);
  BOOST_TEST((rows_of(sut) == std::vector{row(7, 3)}));
}

BOOST_AUTO_TEST_CASE(a_file_of_another_kind_is_refused) {
  run("CREATE TABLE theirs(x)");
  const auto theirs = catalog::open(file());
  BOOST_REQUIRE(!theirs);
  BOOST_TEST((theirs.why().code == ec::incompatible));
  fs::remove(file());
  std::ofstream{file()} << std::string(5'000, 'x');
  BOOST_TEST((code_of(catalog::open(file())) == ec::io_failed));
  fs::remove(file());
  fs::create_directory(file());
  BOOST_TEST((code_of(catalog::open(file())) == ec::io_failed));
}

BOOST_AUTO_TEST_SUITE_END()
