// SPDX-License-Identifier: Apache-2.0
#include "index/plain_ledger.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>

#include <optional>

namespace {

using namespace atelier;
using core::eviction_rule;
using core::tenant_id;
using index::detail::budget;
using index::detail::entry_uses;
using index::detail::finder;
using index::detail::ledger;
using index::detail::ledger_entry;
using index::detail::victim;
using test::plain_ledger;
using test::sole_payload;
using victims = std::vector<victim>;

constexpr tenant_id amy{1};
constexpr tenant_id ben{2};

/// Returns entries that leave with all their payloads.
victims whole(const std::vector<uint64_t>& numbers) {
  victims out;
  for (const auto x : numbers)
    out.push_back({x});
  return out;
}

/// Returns an entry with states after 5, 10, ... steps.
ledger_entry some_states(finder whose, uint64_t overhead,
                         const std::vector<uint64_t>& bytes, uint64_t last) {
  ledger_entry out;
  out.whose = whose;
  out.overhead = overhead;
  out.uses.last = last;
  uint32_t steps = 0;
  for (const auto x : bytes)
    out.parts.push_back({steps += 5, x, {last, 0}});
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(ledger_test)

BOOST_AUTO_TEST_CASE(what_fits_drives_nothing_out) {
  ledger sut{{100, 10, 0}};
  BOOST_TEST((sut.room_for(amy, 100, 0) == whole({})));
  sut.add(1, sole_payload(amy, 60, 1));
  BOOST_TEST((sut.room_for(amy, 40, 0) == whole({})));
  BOOST_TEST((sut.room_for(amy, 41, 0) == whole({1})));
  BOOST_TEST((sut.room_for(amy, 40, 1) == whole({1})));
  BOOST_TEST((sut.room_for(amy, 101, 0) == std::nullopt));
  BOOST_TEST((sut.room_for(amy, 100, 1) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(the_least_recently_used_leaves_first) {
  ledger sut{{100, 10, 0}};
  sut.add(1, sole_payload(amy, 40, 1));
  sut.add(2, sole_payload(ben, 30, 2));
  sut.add(3, sole_payload(amy, 30, 3));
  sut.use(1, 4);
  BOOST_TEST((sut.room_for(ben, 10, 0) == whole({2})));
  BOOST_TEST((sut.room_for(ben, 50, 0) == whole({2, 3})));
  sut.use(9, 5);
  sut.remove(2);
  BOOST_TEST(sut.bytes() == 70u);
  BOOST_TEST((sut.room_for(ben, 50, 0) == whole({3})));
}

BOOST_AUTO_TEST_CASE(each_rule_has_its_order) {
  const auto order = [](eviction_rule rule) {
    ledger sut{{4, 10, 0, rule}};
    for (uint64_t i = 1; i <= 4; ++i)
      sut.add(i, sole_payload(i % 2 == 0 ? amy : ben, 1, i));
    // 25 steps outweigh four times five. A use without an answer skips no step.
    sut.use(1, 5);
    sut.save(1, 5, 25);
    for (uint64_t i = 0; i < 4; ++i) {
      sut.use(2, 6 + i);
      sut.save(2, 5, 5);
    }
    sut.use(3, 10);
    sut.save(9, 5, 5);
    sut.save(1, 10, 99);
    BOOST_TEST((sut.find(2)->uses == entry_uses{9, 20}));
    BOOST_TEST(sut.find(9) == nullptr);
    return *sut.room_for(amy, 4, 0);
  };
  BOOST_TEST((order(eviction_rule::fifo) == whole({1, 2, 3, 4})));
  BOOST_TEST((order(eviction_rule::lru) == whole({4, 1, 2, 3})));
  // A use without an answer is none of a payload.
  BOOST_TEST((order(eviction_rule::lcbfu) == whole({3, 4, 2, 1})));
}

BOOST_AUTO_TEST_CASE(entries_are_bounded_too) {
  ledger sut{{100, 2, 0}};
  sut.add(1, sole_payload(amy, 1, 1));
  sut.add(2, sole_payload(amy, 1, 2));
  BOOST_TEST((sut.room_for(amy, 1, 0) == whole({1})));
  BOOST_TEST((ledger{{100, 0, 0}}.room_for(amy, 1, 0) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(nobody_drives_another_tenant_below_its_floor) {
  // With two tenants, 20 bytes are reserved for each.
  ledger sut{{100, 10, 0.4}};
  sut.add(1, sole_payload(amy, 10, 1));
  sut.add(2, sole_payload(amy, 10, 2));
  sut.add(3, sole_payload(amy, 10, 3));
  sut.add(4, sole_payload(ben, 70, 4));
  // One entry of Amy's may leave, then Ben's own entries.
  BOOST_TEST((sut.room_for(ben, 10, 0) == whole({1})));
  BOOST_TEST((sut.room_for(ben, 20, 0) == whole({1, 4})));
  // Amy keeps her 20 bytes, whatever else leaves.
  BOOST_TEST((sut.room_for(ben, 81, 0) == std::nullopt));
  // Her own entries may leave.
  BOOST_TEST((sut.room_for(amy, 30, 0) == whole({1, 2, 3})));
  // A third tenant makes the reserved parts smaller.
  BOOST_TEST(sut.floor_bytes(2) == 20u);
  BOOST_TEST(sut.floor_bytes(3) == 13u);
}

BOOST_AUTO_TEST_CASE(what_nobody_can_find_has_no_floor) {
  ledger sut{{100, 10, 0.4}};
  for (uint64_t i = 1; i <= 4; ++i)
    sut.add(i, sole_payload(finder{}, 10, i));
  sut.add(5, sole_payload(amy, 60, 5));
  // Amy alone has a floor. Nothing of the rest is kept for a tenant.
  BOOST_TEST((sut.room_for(amy, 40, 0) == whole({1, 2, 3, 4})));
  BOOST_TEST((sut.room_for(ben, 40, 0) == whole({1, 2, 3, 4})));
  sut.remove(5);
  sut.add(6, sole_payload(ben, 20, 6));
  BOOST_TEST((sut.room_for(amy, 80, 0) == whole({1, 2, 3, 4})));
  // Ben's floor is what it is for two tenants: 20 bytes.
  BOOST_TEST((sut.room_for(amy, 81, 0) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(small_entries_are_no_way_past_a_floor) {
  // Ten entries for 100 bytes: each counts as ten towards a floor.
  ledger sut{{100, 10, 0.4}};
  for (uint64_t i = 1; i <= 10; ++i)
    sut.add(i, sole_payload(amy, 1, i));
  BOOST_TEST((sut.room_for(ben, 1, 0) == whole({1})));
  sut.remove(1);
  sut.add(11, sole_payload(ben, 1, 11));
  // Amy keeps two.
  for (uint64_t i = 2; i <= 8; ++i) {
    BOOST_TEST((sut.room_for(ben, 1, 0) == whole({i})));
    sut.remove(i);
    sut.add(10 + i, sole_payload(ben, 1, 10 + i));
  }
  BOOST_TEST((sut.room_for(ben, 1, 0) == whole({11})));
}

BOOST_AUTO_TEST_CASE(of_a_divided_budget_each_tenant_has_its_part) {
  ledger sut{{100, 6, 0.4, eviction_rule::lru, 2}};
  sut.add(1, sole_payload(amy, 20, 1));
  sut.add(2, sole_payload(amy, 20, 2));
  // Whether Ben has anything or not, all else is free or not.
  const auto of_amy = [&] {
    BOOST_TEST((sut.room_for(amy, 10, 0) == whole({})));
    BOOST_TEST((sut.room_for(amy, 11, 0) == whole({1})));
    BOOST_TEST((sut.room_for(amy, 50, 0) == whole({1, 2})));
    BOOST_TEST((sut.room_for(amy, 51, 0) == std::nullopt));
  };
  of_amy();
  BOOST_TEST((sut.room_for(ben, 50, 0) == whole({})));
  BOOST_TEST((sut.room_for(ben, 51, 0) == std::nullopt));
  for (uint64_t i = 3; i <= 5; ++i)
    sut.add(i, sole_payload(ben, i == 5 ? 48 : 1, i));
  of_amy();
  // Three entries are a part, too.
  BOOST_TEST((sut.room_for(ben, 1, 0) == whole({3})));
  // A third tenant finds room only in what is left.
  constexpr tenant_id cas{3};
  BOOST_TEST((sut.room_for(cas, 10, 0) == whole({})));
  BOOST_TEST((sut.room_for(cas, 11, 0) == std::nullopt));
  // A start with smaller parts trims each.
  ledger smaller{{60, 6, 0, eviction_rule::lru, 3}};
  smaller.add(1, sole_payload(amy, 20, 1));
  smaller.add(2, sole_payload(amy, 10, 2));
  smaller.add(3, sole_payload(ben, 10, 3));
  BOOST_TEST((smaller.excess() == whole({1})));
  // And more tenants than parts leave by the rule.
  ledger crowded{{40, 40, 0, eviction_rule::lru, 2}};
  crowded.add(1, sole_payload(amy, 20, 2));
  crowded.add(2, sole_payload(ben, 20, 1));
  crowded.add(3, sole_payload(cas, 20, 3));
  BOOST_TEST((crowded.excess() == whole({2})));
}

BOOST_AUTO_TEST_CASE(a_smaller_budget_tells_what_leaves) {
  ledger sut{{50, 2, 1}};
  sut.add(1, sole_payload(amy, 30, 1));
  sut.add(2, sole_payload(ben, 30, 2));
  sut.add(3, sole_payload(ben, 5, 3));
  BOOST_TEST((sut.excess() == whole({1})));
  ledger none{{50, 0, 1}};
  none.add(1, sole_payload(amy, 30, 1));
  BOOST_TEST((none.excess() == whole({1})));
}

// 14 of 24 tenants arrive late, and their first entries change every floor.
BOOST_AUTO_TEST_CASE(a_floor_that_changes_keeps_the_order) {
  constexpr uint64_t tenants = 24;
  const budget most{1'000, 1'000, 1};
  ledger sut{most};
  plain_ledger plain{most};
  uint64_t number = 0;
  const auto add = [&](uint64_t whose, uint64_t bytes) {
    const tenant_id tenant{static_cast<uint32_t>(whose)};
    ++number;
    sut.add(number, sole_payload(tenant, bytes, number));
    plain.entries.emplace(number, sole_payload(tenant, bytes, number));
  };
  const auto agree = [&] {
    for (const auto whose : {uint32_t{0}, uint32_t{tenants}})
      for (const uint64_t bytes : {1U, 100U, 400U, 900U})
        BOOST_REQUIRE((sut.room_for(tenant_id{whose}, bytes, 0)
                       == plain.room_for(tenant_id{whose}, bytes, 0)));
  };
  for (uint64_t i = 0; i < tenants; ++i) {
    add(i, 5 + i % 7);
    add(i % 10, 1 + i % 5);
    agree();
  }
  for (uint64_t i = 1; i <= number; i += 2) {
    sut.remove(i);
    plain.entries.erase(i);
    agree();
  }
}

// LCBFU counts for each state, as in the paper's example.
BOOST_AUTO_TEST_CASE(states_leave_alone_by_their_uses) {
  ledger sut{{100, 10, 0, eviction_rule::lcbfu}};
  sut.add(1, some_states(amy, 10, {10, 10, 10, 10, 10}, 1));
  sut.add(2, some_states(ben, 10, {10, 10}, 2));
  BOOST_TEST(sut.bytes() == 90u);
  const auto uses = [&](uint64_t number, uint32_t steps, uint64_t count) {
    sut.use(number, 3);
    sut.save(number, steps, count * steps);
  };
  uses(1, 25, 100);
  uses(1, 5, 200);
  uses(2, 10, 1);
  BOOST_TEST((sut.find(1)->uses == entry_uses{3, 3'500}));
  // The unused ones leave by age, then by their steps.
  BOOST_TEST((*sut.room_for(ben, 20, 0) == victims{{1, {10}}}));
  BOOST_TEST(
    (*sut.room_for(ben, 45, 0) == victims{{1, {10, 15, 20}}, {2, {5}}}));
  // With its last state an entry leaves, and its 10 bytes with it.
  BOOST_TEST((*sut.room_for(ben, 60, 0) == victims{{1, {10, 15, 20}}, {2}}));
  // K = 25, f = 100 outlives K = 5, f = 200.
  BOOST_TEST((*sut.room_for(ben, 80, 0) == victims{{1, {10, 15, 20, 5}}, {2}}));
  BOOST_TEST((*sut.room_for(ben, 81, 0) == victims{{1}, {2}}));
  const std::vector<uint32_t> gone{10, 15};
  sut.remove(1, gone);
  BOOST_TEST(sut.bytes() == 70u);
  BOOST_TEST((*sut.room_for(ben, 31, 0) == victims{{1, {20}}}));
  // A payload that is gone saves nothing more.
  sut.save(1, 10, 10'000);
  BOOST_TEST((sut.find(1)->uses == entry_uses{3, 3'500}));
  sut.remove(1);
  BOOST_TEST(sut.bytes() == 30u);
}

BOOST_AUTO_TEST_CASE(a_smaller_budget_tells_which_states_leave) {
  for (const uint64_t parts : {0U, 2U})
    BOOST_TEST_CONTEXT(parts) {
      ledger sut{{60, 10, 0, eviction_rule::lcbfu, parts}};
      sut.add(1, some_states(amy, 10, {10, 10, 10}, 1));
      sut.add(2, some_states(ben, 10, {10, 10}, 2));
      BOOST_TEST((sut.excess() == victims{{1, {5}}}));
      sut.add(3, some_states(amy, 10, {10, 10}, 3));
      BOOST_TEST((sut.excess() == victims{{1}}));
    }
}

// The number of entries falls only when the last state of one leaves.
BOOST_AUTO_TEST_CASE(states_leave_until_there_is_an_entry_less) {
  ledger sut{{1'000, 2, 0, eviction_rule::lcbfu}};
  sut.add(1, some_states(amy, 10, {10, 10}, 1));
  sut.add(2, some_states(amy, 10, {10, 10}, 2));
  sut.use(1, 3);
  sut.save(1, 10, 10);
  BOOST_TEST((*sut.room_for(amy, 10, 0) == victims{{1, {5}}, {2}}));
}

BOOST_AUTO_TEST_CASE(states_of_others_stay_above_their_floor) {
  // 20 bytes are reserved for each of two tenants; an entry counts at least 10.
  ledger sut{{100, 10, 0.4, eviction_rule::lcbfu}};
  sut.add(1, some_states(amy, 0, {10, 10, 10}, 1));
  sut.add(2, some_states(ben, 0, {30, 30}, 2));
  BOOST_TEST((*sut.room_for(ben, 20, 0) == victims{{1, {5}}}));
  BOOST_TEST((*sut.room_for(ben, 30, 0) == victims{{1, {5}}, {2, {5}}}));
  // An entry below 10 bytes counts as ten: its states may leave, but the last
  // one stays.
  ledger small{{100, 10, 0.2, eviction_rule::lcbfu}};
  small.add(1, some_states(amy, 0, {5, 5}, 1));
  small.add(2, some_states(ben, 0, {90}, 2));
  BOOST_TEST((*small.room_for(ben, 5, 0) == victims{{1, {5}}}));
  BOOST_TEST((*small.room_for(ben, 6, 0) == victims{{1, {5}}, {2}}));
  ledger more{{100, 10, 0.2, eviction_rule::lcbfu}};
  more.add(1, some_states(amy, 0, {20}, 1));
  more.add(2, some_states(ben, 0, {60}, 2));
  BOOST_TEST((*more.room_for(ben, 21, 0) == victims{{2}}));
}

// At scale 1 this runs 1,000,000 operations for each rule.
BOOST_AUTO_TEST_CASE(random_operations_agree_with_looking_at_everything) {
  core::philox random{test::seed(), core::purpose::test, core::request_id{1}};
  for (const auto rule :
       {eviction_rule::fifo, eviction_rule::lru, eviction_rule::lcbfu}) {
    std::optional<ledger> sut;
    plain_ledger plain;
    uint64_t number = 0;
    uint64_t clock = 0;
    const auto n = test::scaled(1'000'000);
    for (size_t i = 0; i < n; ++i) {
      if (i % 1'000 == 0) {
        const budget most{200 + random.below(2'000), 1 + random.below(30),
                          static_cast<double>(random.below(5)) / 4, rule,
                          random.below(2) * random.below(7)};
        sut.emplace(most);
        plain = {most, {}};
      }
      const auto any = number - std::min(number, random.below(30));
      switch (random.below(4)) {
        case 0:
        case 1: {
          const tenant_id whose{static_cast<uint32_t>(random.below(5))};
          // One in five was kept for other models.
          const auto by = random.below(5) == 0 ? finder{} : finder{whose};
          std::vector<uint64_t> states(1 + random.below(4));
          for (auto& x : states)
            x = random.below(100);
          const auto entry =
            some_states(by, 1 + random.below(50), states, clock + 1);
          const auto bytes = entry.bytes();
          const auto beside = random.below(8) == 0 ? random.below(300) : 0;
          const auto room = sut->room_for(whose, bytes, beside);
          BOOST_REQUIRE((room == plain.room_for(whose, bytes, beside)));
          if (!room || beside > 0)
            break;
          for (const auto& x : *room)
            if (x.steps.empty())
              sut->remove(x.number);
            else
              sut->remove(x.number, x.steps);
          plain.leave(*room);
          ++clock;
          sut->add(++number, entry);
          plain.entries.emplace(number, entry);
          break;
        }
        case 2: {
          const auto steps = static_cast<uint32_t>(5 * random.below(6));
          sut->use(any, ++clock);
          plain.use(any, clock);
          sut->save(any, steps, steps);
          plain.save(any, steps, steps);
          break;
        }
        default:
          if (random.below(3) != 0)
            break;
          sut->remove(any);
          plain.entries.erase(any);
      }
      BOOST_REQUIRE(sut->bytes() == plain.bytes());
      BOOST_REQUIRE(sut->entries() == plain.entries.size());
      BOOST_REQUIRE(sut->bytes() <= plain.most.bytes);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
