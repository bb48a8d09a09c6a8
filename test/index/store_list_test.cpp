// SPDX-License-Identifier: Apache-2.0
#include "index/store_rig.hpp"
#include <atelier/core/sha256.hpp>
#include <atelier/index/memory.hpp>
#include <atelier/index/store/store_folder.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace atelier;
using core::tenant_id;
using test::entry_bytes;
using test::kept_states;

constexpr std::array texts{"a red fox", "a blue owl", "a green frog"};

struct fixture : test::store_folder {
  index::store_options dated() {
    auto with = options();
    with.scope = "scope";
    with.date = [this] { return ++date; };
    return with;
  }

  void fill(index::kept_work& sut) {
    for (uint32_t i = 0; i < texts.size(); ++i)
      BOOST_REQUIRE(
        sut.keep("k", texts[i], kept_states({100, 50}, i, tenant_id{i % 2})));
    BOOST_REQUIRE(sut.state(2, 10));
    BOOST_REQUIRE(sut.state(2, 5));
  }

  static std::vector<uint64_t> numbers_of(
    const core::result<std::vector<index::kept_entry>>& page) {
    BOOST_REQUIRE(page);
    std::vector<uint64_t> out;
    for (const auto& x : *page)
      out.push_back(x.number);
    return out;
  }

  /// Checks what both kinds of cache tell.
  static void check_pages(index::kept_work& sut) {
    using list = std::vector<uint64_t>;
    BOOST_TEST((numbers_of(sut.list({0, 10, {}})) == list{1, 2, 3}));
    BOOST_TEST((numbers_of(sut.list({0, 2, {}})) == list{1, 2}));
    BOOST_TEST((numbers_of(sut.list({2, 2, {}})) == list{3}));
    BOOST_TEST((numbers_of(sut.list({3, 2, {}})).empty()));
    BOOST_TEST((numbers_of(sut.list({0, 10, tenant_id{0}})) == list{1, 3}));
    BOOST_TEST((numbers_of(sut.list({1, 10, tenant_id{0}})) == list{3}));
    const auto page = sut.list({1, 1, {}});
    const auto& x = page->front();
    BOOST_TEST(x.key == "k");
    BOOST_TEST((x.whose == tenant_id{1}));
    BOOST_TEST(x.text_sha256 == core::sha256_hex(std::string_view{texts[1]}));
    BOOST_TEST((x.steps == std::vector<uint32_t>{5, 10}));
    BOOST_TEST(!x.has_image);
    BOOST_TEST(x.made == 1'002);
    BOOST_TEST(x.answers == 2u);
    BOOST_TEST(x.saved_steps == 15u);
    BOOST_TEST(x.is_in_memory);
  }

  /// Checks that an entry leaves the list with the cache.
  static void check_left(index::kept_work& sut) {
    sut.drop_torn(2);
    BOOST_TEST(
      (numbers_of(sut.list({0, 10, {}})) == std::vector<uint64_t>{1, 3}));
    BOOST_TEST((numbers_of(sut.list({2, 10, {}})) == std::vector<uint64_t>{3}));
  }

  int64_t date = 1'000;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(store_list_test, fixture)

BOOST_AUTO_TEST_CASE(entries_on_the_disk_are_listed) {
  {
    const auto sut = open(dated());
    fill(*sut);
    check_pages(*sut);
    const auto x = sut->list({1, 1, {}})->front();
    BOOST_TEST(*x.text == texts[1]);
    BOOST_TEST(x.bytes == entry_bytes + 150 + 6 + 10);
  }
  // What was used before is known, but in no memory.
  const auto sut = open(dated());
  const auto x = sut->list({1, 1, {}})->front();
  BOOST_TEST(x.answers == 0u);
  BOOST_TEST(x.saved_steps == 15u);
  BOOST_TEST(!x.is_in_memory);
  BOOST_REQUIRE(sut->state(2, 5));
  BOOST_TEST(!sut->list({1, 1, {}})->front().is_in_memory);
  BOOST_REQUIRE(sut->state(2, 10));
  BOOST_TEST(sut->list({1, 1, {}})->front().is_in_memory);
  check_left(*sut);
}

BOOST_AUTO_TEST_CASE(entries_of_other_models_have_no_key) {
  fill(*open(dated()));
  auto with = dated();
  with.scope = "other";
  const auto sut = open(with);
  BOOST_TEST(sut->list({0, 10, {}})->size() == 3u);
  BOOST_TEST(sut->list({1, 1, {}})->front().key == "");
}

BOOST_AUTO_TEST_CASE(entries_in_memory_are_listed_without_their_texts) {
  index::memory sut{
    {1 << 20, 100}, index::words_encoder(), nullptr, {}, [this] {
      return ++date;
    }};
  fill(sut);
  check_pages(sut);
  const auto x = sut.list({1, 1, {}})->front();
  BOOST_TEST(!x.text.has_value());
  BOOST_TEST(x.bytes > 150u);
  check_left(sut);
}

BOOST_AUTO_TEST_CASE(a_scopes_texts_are_read_without_a_store) {
  const auto read = [this](std::string_view scope) {
    std::vector<index::kept_text> out;
    BOOST_REQUIRE(index::read_texts(
      path(), scope, [&](index::kept_text x) { out.push_back(std::move(x)); }));
    return out;
  };
  // There is no folder yet.
  BOOST_TEST(read("scope").empty());
  fill(*open(dated()));
  const auto found = read("scope");
  BOOST_TEST_REQUIRE(found.size() == 3u);
  for (const auto& x : found) {
    BOOST_TEST(x.key == "k");
    BOOST_TEST((x.steps == std::vector<uint32_t>{5, 10}));
    BOOST_TEST(!x.has_image);
  }
  BOOST_TEST(read("other").empty());
  // An entry whose file is not whole leaves at the next start.
  std::filesystem::resize_file(files().front(), 7);
  BOOST_TEST(read("scope").size() == 2u);
}

BOOST_AUTO_TEST_CASE(checked_searches_are_counted) {
  auto with = dated();
  with.search.segment = 20;
  with.search.check_every = 1;
  const auto sut = open(with);
  for (int i = 0; i < 40; ++i)
    BOOST_REQUIRE(sut->keep("k", "word" + std::to_string(i), kept_states({9})));
  // A search is checked once a graph is built, by another thread.
  for (size_t tries = 0; sut->counts().searches_checked < 5; ++tries) {
    BOOST_TEST_REQUIRE(tries < 2'000'000u);
    sut->near("k", "word7", {1});
  }
  BOOST_TEST(sut->counts().searches_agreed == sut->counts().searches_checked);
}

BOOST_AUTO_TEST_SUITE_END()
