// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/fair_shares.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <map>

using namespace atelier;
using namespace atelier::planning;

namespace {

constexpr core::tenant_id ann{1};
constexpr core::tenant_id ben{2};
constexpr core::tenant_id cat{3};

} // namespace

BOOST_AUTO_TEST_SUITE(fair_shares_test)

BOOST_AUTO_TEST_CASE(below_the_limit_everything_is_granted) {
  BOOST_TEST(is_granted({10, 8, 8, 2, 5}));
  BOOST_TEST(is_granted({10, 0, 0, 10, 1}));
  BOOST_TEST(is_granted({0, 0, 0, 0, 1}));
}

BOOST_AUTO_TEST_CASE(above_it_a_tenant_gets_its_equal_share) {
  BOOST_TEST(is_granted({10, 10, 4, 1, 2}));
  BOOST_TEST(!is_granted({10, 10, 5, 1, 2}));
  BOOST_TEST(!is_granted({10, 10, 4, 1, 3}));
  // A tenant over its share is refused however much the others hold.
  BOOST_TEST(!is_granted({10, 15, 10, 1, 2}));
}

BOOST_AUTO_TEST_CASE(
  above_it_a_tenant_with_nothing_gets_what_the_limit_allows) {
  BOOST_TEST(is_granted({10, 10, 0, 10, 100}));
  BOOST_TEST(!is_granted({10, 10, 0, 11, 100}));
}

BOOST_AUTO_TEST_CASE(nobody_exceeds_twice_the_limit) {
  BOOST_TEST(is_granted({10, 19, 0, 1, 9}));
  BOOST_TEST(!is_granted({10, 20, 0, 1, 9}));
  BOOST_TEST(!is_granted({10, 25, 0, 0, 9}));
}

BOOST_AUTO_TEST_CASE(the_largest_limit_is_no_overflow) {
  constexpr auto most = std::numeric_limits<uint64_t>::max();
  BOOST_TEST(is_granted({most, most - 1, 0, 1, 2}));
  BOOST_TEST(!is_granted({most, most - 1, 1, 2, 2}));
}

BOOST_AUTO_TEST_CASE(who_fills_the_limit_leaves_room_for_others) {
  fair_shares sut;
  sut.add(ann, 4);
  BOOST_TEST(!sut.grants(ann, 1, 4));
  BOOST_TEST(sut.grants(ben, 1, 4));
  sut.add(ben, 1);
  BOOST_TEST(sut.grants(ben, 1, 4));
  sut.add(ben, 1);
  BOOST_TEST(!sut.grants(ben, 1, 4));
  BOOST_TEST(sut.grants(cat, 1, 4));
  sut.remove(ann, 4);
  BOOST_TEST(sut.grants(ben, 2, 4));
  BOOST_TEST(!sut.grants(ben, 3, 4));
  BOOST_TEST(sut.total() == 2u);
}

BOOST_AUTO_TEST_CASE(who_holds_less_than_the_mean_is_below_it) {
  fair_shares sut;
  BOOST_TEST(!sut.is_below_mean(ann));
  sut.add(ann, 1);
  BOOST_TEST(!sut.is_below_mean(ann));
  sut.add(ben, 2);
  BOOST_TEST(sut.is_below_mean(ann));
  BOOST_TEST(!sut.is_below_mean(ben));
  BOOST_TEST(sut.is_below_mean(cat));
}

BOOST_AUTO_TEST_CASE(what_is_held_is_conserved_and_bounded) {
  for (size_t loop = 0; loop < test::scaled(2'000); ++loop) {
    auto random = test::random_of(loop);
    const uint64_t limit = 1 + random.below(40);
    const uint64_t known = 1 + random.below(5);
    fair_shares sut;
    std::map<uint64_t, uint64_t> model;
    for (int i = 0; i < 100; ++i) {
      const uint64_t who = random.below(known);
      const uint64_t amount = random.below(6);
      uint64_t total = 0;
      uint64_t holding = 0;
      for (const auto& [tenant, held] : model) {
        total += held;
        holding += held > 0 ? 1u : 0u;
      }
      auto& own = model[who];
      const core::tenant_id tenant{who};
      if (random.below(3) == 0) {
        const auto less = std::min(amount, own);
        sut.remove(tenant, less);
        own -= less;
        continue;
      }
      const bool granted = sut.grants(tenant, amount, limit);
      if (total + amount <= limit)
        BOOST_REQUIRE(granted);
      if (own == total)
        // Nobody else holds anything: the limit alone counts.
        BOOST_REQUIRE(granted == (total + amount <= limit));
      if (own == 0 && amount <= limit && total + amount <= 2 * limit)
        BOOST_REQUIRE(granted);
      if (own > 0 && total + amount > limit && own + amount > limit / holding)
        BOOST_REQUIRE(!granted);
      if (granted) {
        sut.add(tenant, amount);
        own += amount;
        BOOST_REQUIRE(sut.total() == total + amount);
        BOOST_REQUIRE(sut.total() <= 2 * limit);
      }
    }
    for (const auto& [tenant, held] : model)
      sut.remove(core::tenant_id{tenant}, held);
    BOOST_REQUIRE((sut == fair_shares{}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
