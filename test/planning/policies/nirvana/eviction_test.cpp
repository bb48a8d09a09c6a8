// SPDX-License-Identifier: Apache-2.0
#include "planning/policies/nirvana/victims.hpp"
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/nirvana/eviction.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <utility>
#include <vector>

using namespace atelier;
using namespace atelier::planning::nirvana;
using atelier::test::victims;

namespace {

cached_state state(uint32_t skip, double uses, uint32_t below = 0,
                   uint64_t bytes = 1) {
  cached_state s;
  s.skip = skip;
  s.uses = uses;
  s.below = below;
  s.bytes = bytes;
  return s;
}

} // namespace

BOOST_AUTO_TEST_SUITE(nirvana_eviction_test)

BOOST_AUTO_TEST_CASE(uses_weigh_by_skipped_steps) {
  BOOST_TEST(worth(state(25, 100), eviction_rule::lcbfu) == 2500.0);
  BOOST_TEST(worth(state(5, 200), eviction_rule::lcbfu) == 1000.0);
  // The evicted state's hits fall to the next lower state: 25 over 20 loses
  // 500, 5 loses 1000.
  BOOST_TEST(worth(state(25, 100, 20), eviction_rule::marginal) == 500.0);
  BOOST_TEST(worth(state(5, 200), eviction_rule::marginal) == 1000.0);
  BOOST_TEST(worth(state(5, 200, 0, 2), eviction_rule::marginal) == 500.0);
  auto aged = state(5, 1);
  aged.floor = 7;
  BOOST_TEST(worth(aged, eviction_rule::marginal) == 12.0);
  BOOST_TEST(first_uses(eviction_rule::lcbfu) == 0.0);
  BOOST_TEST(first_uses(eviction_rule::marginal) == 1.0);
}

BOOST_AUTO_TEST_CASE(the_simple_rules_order_by_time_or_uses) {
  auto old_used = state(5, 9);
  old_used.inserted = 1;
  old_used.used = 50;
  auto young = state(5, 1);
  young.inserted = 10;
  const std::vector<cached_state> all{old_used, young};
  BOOST_TEST(victims(all, eviction_rule::lru, 1, 1)[0] == 1u);
  BOOST_TEST(victims(all, eviction_rule::lfu, 1, 1)[0] == 1u);
  BOOST_TEST(victims(all, eviction_rule::fifo, 1, 1)[0] == 0u);
}

BOOST_AUTO_TEST_CASE(five_go_at_once_and_leased_ones_stay) {
  std::vector<cached_state> all;
  for (uint32_t i = 0; i < 8; ++i)
    all.push_back(state(5, i));
  all[1].leased = true;
  const std::vector<size_t> first{0, 2, 3, 4, 5};
  BOOST_TEST((victims(all, eviction_rule::lcbfu, 1) == first));
  BOOST_TEST(victims(all, eviction_rule::lcbfu, 7).size() == 7u);
  BOOST_TEST(victims(all, eviction_rule::lcbfu, 100).size() == 7u);
  BOOST_TEST(victims({}, eviction_rule::lcbfu, 1).empty());
}

BOOST_AUTO_TEST_CASE(equals_go_by_age_then_by_lower_skip) {
  auto a = state(10, 0);
  auto b = state(5, 0);
  auto c = state(25, 0);
  a.used = b.used = 4;
  c.used = 3;
  const std::vector<cached_state> all{a, b, c};
  const std::vector<size_t> order{2, 1, 0};
  BOOST_TEST((victims(all, eviction_rule::lcbfu, 3, 1) == order));
}

BOOST_AUTO_TEST_CASE(a_server_orders_states_as_simulations_do) {
  auto first = state(5, 200);
  auto second = state(25, 100);
  first.entry = second.entry = 3;
  first.used = 8;
  second.used = 9;
  constexpr auto rule = eviction_rule::lcbfu;
  BOOST_TEST(
    (place_of(cached_unit{3, 5, 1'000, 3, 8}, rule) == place_of(first, rule)));
  BOOST_TEST((place_of(cached_unit{3, 25, 2'500, 3, 9}, rule)
              == place_of(second, rule)));
  BOOST_TEST(is_by_payload(rule));
}

BOOST_AUTO_TEST_CASE(a_server_orders_entries_by_age_or_use) {
  // Insertions and uses are counted separately.
  const cached_unit early{1, 0, 3'500, 1, 9};
  const cached_unit late{50, 0, 0, 50, 3};
  BOOST_TEST(
    (place_of(late, eviction_rule::lru) < place_of(early, eviction_rule::lru)));
  BOOST_TEST((place_of(early, eviction_rule::fifo)
              < place_of(late, eviction_rule::fifo)));
  BOOST_TEST(!is_by_payload(eviction_rule::lru));
  BOOST_TEST(!is_by_payload(eviction_rule::fifo));
}

BOOST_AUTO_TEST_CASE(victims_are_worth_no_more_than_what_stays) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const auto rule = static_cast<eviction_rule>(random.below(5));
    std::vector<cached_state> all(random.below(20));
    for (cached_state& s : all) {
      s = state(5 * static_cast<uint32_t>(1 + random.below(5)),
                static_cast<double>(random.below(9)), 0, 1 + random.below(4));
      s.inserted = random.below(9);
      s.used = s.inserted + random.below(9);
      s.floor = random.uniform();
      s.leased = random.below(5) == 0;
    }
    const uint64_t bytes = random.below(12);
    const auto gone = victims(all, rule, bytes);
    double worst = -1;
    uint64_t freed = 0;
    for (const size_t v : gone) {
      BOOST_REQUIRE(!all[v].leased);
      worst = std::max(worst, worth(all[v], rule));
      freed += all[v].bytes;
    }
    size_t stay = 0;
    for (size_t k = 0; k < all.size(); ++k) {
      if (all[k].leased || std::count(gone.begin(), gone.end(), k) != 0)
        continue;
      ++stay;
      BOOST_REQUIRE(worth(all[k], rule) >= worst);
    }
    BOOST_REQUIRE((stay == 0 || (freed >= bytes && gone.size() >= 5)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
