// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/memory.hpp>
#include <atelier/training/program/reuse_study/study_cache.hpp>

#include <boost/test/unit_test.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::runtime::reuse_study;
using namespace std::chrono_literals;

namespace {

constexpr core::extent px{8, 8};

std::shared_ptr<index::kept_work> empty_cache() {
  return std::make_shared<index::memory>(
    index::cache_bounds{1 << 24, 1000, 0, core::eviction_rule::lru});
}

/// A state, and an image of one value.
index::leftover left(uint8_t value) {
  index::leftover out;
  out.states.push_back({5, {std::byte{value}}});
  out.image.assign(px.pixels() * 3, std::byte{value});
  out.px = px;
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(study_cache_test)

BOOST_AUTO_TEST_CASE(it_tells_what_a_request_found_and_left) {
  study_cache sut{empty_cache()};
  sut.begin_request();
  BOOST_TEST(sut.near("k", "a red circle", {8}).empty());
  BOOST_TEST(!sut.nearest());
  BOOST_TEST(!sut.wait_until_kept(0s));
  BOOST_TEST(sut.keep("k", "a red circle", left(1)));
  BOOST_TEST((sut.wait_until_kept(0s) == std::optional{true}));
  sut.begin_request();
  BOOST_TEST(!sut.wait_until_kept(0s));
  BOOST_TEST(sut.near("k", "a red circle", {8}).size() == 1u);
  BOOST_TEST_REQUIRE(sut.nearest().has_value());
  BOOST_TEST(*sut.nearest() > 0.999);
  // An empty leftover is not kept.
  BOOST_TEST(!sut.keep("k", "a blue circle", {}));
  BOOST_TEST((sut.wait_until_kept(0s) == std::optional{false}));
  BOOST_TEST(sut.counts().entries == 1u);
  BOOST_TEST((sut.compares() == planning::compared::prompts));
}

BOOST_AUTO_TEST_CASE(any_entry_is_found_as_often_as_others) {
  auto inner = empty_cache();
  std::vector<std::string> texts;
  for (int i = 0; i < 10; ++i) {
    texts.push_back("text" + std::to_string(i));
    BOOST_TEST_REQUIRE(inner->keep("k", texts.back(), left(1)));
  }
  const std::vector<std::string> first{texts.begin(), texts.end() - 1};
  any_entry_cache sut{inner, first, 7};
  sut.know(texts.back());
  std::map<uint64_t, int> found;
  for (uint64_t i = 0; i < 1000; ++i) {
    sut.expect(i, 0.97);
    // The text is that of one entry, which is found no more often.
    const auto near = sut.near("k", "text3", {8});
    BOOST_TEST_REQUIRE(near.size() == 1u);
    BOOST_TEST(near.front().similarity == 0.97);
    BOOST_TEST((near.front().stored == std::vector<uint32_t>{5}));
    ++found[near.front().entry];
  }
  BOOST_TEST(found.size() == 10u);
  for (const auto& [entry, count] : found) {
    BOOST_TEST(count > 50, entry);
    BOOST_TEST(count < 170, entry);
  }
  // The same request finds the same entry.
  sut.expect(5, 0.97);
  const auto once = sut.near("k", "a", {8}).front().entry;
  sut.expect(5, 0.9);
  BOOST_TEST(sut.near("k", "b", {8}).front().entry == once);
  sut.expect(6, std::nullopt);
  BOOST_TEST(sut.near("k", "text3", {8}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
