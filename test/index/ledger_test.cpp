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
using index::detail::ledger;
using test::plain_ledger;
using numbers = std::vector<uint64_t>;

constexpr tenant_id amy{1};
constexpr tenant_id ben{2};

} // namespace

BOOST_AUTO_TEST_SUITE(ledger_test)

BOOST_AUTO_TEST_CASE(what_fits_drives_nothing_out) {
  ledger sut{{100, 10, 0}};
  BOOST_TEST((sut.room_for(amy, 100, 0) == numbers{}));
  sut.add(1, amy, 60, {1, 0});
  BOOST_TEST((sut.room_for(amy, 40, 0) == numbers{}));
  BOOST_TEST((sut.room_for(amy, 41, 0) == numbers{1}));
  BOOST_TEST((sut.room_for(amy, 40, 1) == numbers{1}));
  BOOST_TEST((sut.room_for(amy, 101, 0) == std::nullopt));
  BOOST_TEST((sut.room_for(amy, 100, 1) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(the_least_recently_used_leaves_first) {
  ledger sut{{100, 10, 0}};
  sut.add(1, amy, 40, {1, 0});
  sut.add(2, ben, 30, {2, 0});
  sut.add(3, amy, 30, {3, 0});
  sut.use(1, 4);
  BOOST_TEST((sut.room_for(ben, 10, 0) == numbers{2}));
  BOOST_TEST((sut.room_for(ben, 50, 0) == numbers{2, 3}));
  sut.use(9, 5);
  sut.remove(2);
  BOOST_TEST(sut.bytes() == 70u);
  BOOST_TEST((sut.room_for(ben, 50, 0) == numbers{3}));
}

BOOST_AUTO_TEST_CASE(each_rule_has_its_order) {
  const auto order = [](eviction_rule rule) {
    ledger sut{{4, 10, 0, rule}};
    for (uint64_t i = 1; i <= 4; ++i)
      sut.add(i, i % 2 == 0 ? amy : ben, 1, {i, 0});
    // 25 steps outweigh four times five. A use without an answer skips no step.
    sut.use(1, 5);
    sut.save(1, 25);
    for (uint64_t i = 0; i < 4; ++i) {
      sut.use(2, 6 + i);
      sut.save(2, 5);
    }
    sut.use(3, 10);
    sut.save(9, 5);
    BOOST_TEST((*sut.uses_of(2) == entry_uses{9, 20}));
    BOOST_TEST(sut.uses_of(9) == nullptr);
    return *sut.room_for(amy, 4, 0);
  };
  BOOST_TEST((order(eviction_rule::fifo) == numbers{1, 2, 3, 4}));
  BOOST_TEST((order(eviction_rule::lru) == numbers{4, 1, 2, 3}));
  BOOST_TEST((order(eviction_rule::lcbfu) == numbers{4, 3, 2, 1}));
}

BOOST_AUTO_TEST_CASE(entries_are_bounded_too) {
  ledger sut{{100, 2, 0}};
  sut.add(1, amy, 1, {1, 0});
  sut.add(2, amy, 1, {2, 0});
  BOOST_TEST((sut.room_for(amy, 1, 0) == numbers{1}));
  BOOST_TEST((ledger{{100, 0, 0}}.room_for(amy, 1, 0) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(nobody_drives_another_tenant_below_its_floor) {
  // With two tenants, 20 bytes are reserved for each.
  ledger sut{{100, 10, 0.4}};
  sut.add(1, amy, 10, {1, 0});
  sut.add(2, amy, 10, {2, 0});
  sut.add(3, amy, 10, {3, 0});
  sut.add(4, ben, 70, {4, 0});
  // One entry of Amy's may leave, then Ben's own entries.
  BOOST_TEST((sut.room_for(ben, 10, 0) == numbers{1}));
  BOOST_TEST((sut.room_for(ben, 20, 0) == numbers{1, 4}));
  // Amy keeps her 20 bytes, whatever else leaves.
  BOOST_TEST((sut.room_for(ben, 81, 0) == std::nullopt));
  // Her own entries may leave.
  BOOST_TEST((sut.room_for(amy, 30, 0) == numbers{1, 2, 3}));
  // A third tenant makes the reserved parts smaller.
  BOOST_TEST(sut.floor_bytes(2) == 20u);
  BOOST_TEST(sut.floor_bytes(3) == 13u);
}

BOOST_AUTO_TEST_CASE(small_entries_are_no_way_past_a_floor) {
  // Ten entries for 100 bytes: each counts as ten towards a floor.
  ledger sut{{100, 10, 0.4}};
  for (uint64_t i = 1; i <= 10; ++i)
    sut.add(i, amy, 1, {i, 0});
  BOOST_TEST((sut.room_for(ben, 1, 0) == numbers{1}));
  sut.remove(1);
  sut.add(11, ben, 1, {11, 0});
  // Amy keeps two.
  for (uint64_t i = 2; i <= 8; ++i) {
    BOOST_TEST((sut.room_for(ben, 1, 0) == numbers{i}));
    sut.remove(i);
    sut.add(10 + i, ben, 1, {10 + i, 0});
  }
  BOOST_TEST((sut.room_for(ben, 1, 0) == numbers{11}));
}

BOOST_AUTO_TEST_CASE(of_a_divided_budget_each_tenant_has_its_part) {
  ledger sut{{100, 6, 0.4, eviction_rule::lru, 2}};
  sut.add(1, amy, 20, {1, 0});
  sut.add(2, amy, 20, {2, 0});
  // Whether Ben has anything or not, all else is free or not.
  const auto of_amy = [&] {
    BOOST_TEST((sut.room_for(amy, 10, 0) == numbers{}));
    BOOST_TEST((sut.room_for(amy, 11, 0) == numbers{1}));
    BOOST_TEST((sut.room_for(amy, 50, 0) == numbers{1, 2}));
    BOOST_TEST((sut.room_for(amy, 51, 0) == std::nullopt));
  };
  of_amy();
  BOOST_TEST((sut.room_for(ben, 50, 0) == numbers{}));
  BOOST_TEST((sut.room_for(ben, 51, 0) == std::nullopt));
  for (uint64_t i = 3; i <= 5; ++i)
    sut.add(i, ben, i == 5 ? 48 : 1, {i, 0});
  of_amy();
  // Three entries are a part, too.
  BOOST_TEST((sut.room_for(ben, 1, 0) == numbers{3}));
  // A third tenant finds room only in what is left.
  constexpr tenant_id cas{3};
  BOOST_TEST((sut.room_for(cas, 10, 0) == numbers{}));
  BOOST_TEST((sut.room_for(cas, 11, 0) == std::nullopt));
  // A start with smaller parts trims each.
  ledger smaller{{60, 6, 0, eviction_rule::lru, 3}};
  smaller.add(1, amy, 20, {1, 0});
  smaller.add(2, amy, 10, {2, 0});
  smaller.add(3, ben, 10, {3, 0});
  BOOST_TEST((smaller.excess() == numbers{1}));
  // And more tenants than parts leave by the rule.
  ledger crowded{{40, 40, 0, eviction_rule::lru, 2}};
  crowded.add(1, amy, 20, {2, 0});
  crowded.add(2, ben, 20, {1, 0});
  crowded.add(3, cas, 20, {3, 0});
  BOOST_TEST((crowded.excess() == numbers{2}));
}

BOOST_AUTO_TEST_CASE(a_smaller_budget_tells_what_leaves) {
  ledger sut{{50, 2, 1}};
  sut.add(1, amy, 30, {1, 0});
  sut.add(2, ben, 30, {2, 0});
  sut.add(3, ben, 5, {3, 0});
  BOOST_TEST((sut.excess() == numbers{1}));
  ledger none{{50, 0, 1}};
  none.add(1, amy, 30, {1, 0});
  BOOST_TEST((none.excess() == numbers{1}));
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
    sut.add(number, tenant, bytes, {number, 0});
    plain.entries.push_back({number, tenant, bytes, number});
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
    plain.remove(i);
    agree();
  }
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
          const auto bytes = 1 + random.below(300);
          const auto beside = random.below(8) == 0 ? random.below(300) : 0;
          const auto room = sut->room_for(whose, bytes, beside);
          BOOST_REQUIRE((room == plain.room_for(whose, bytes, beside)));
          if (!room || beside > 0)
            break;
          for (const auto x : *room) {
            sut->remove(x);
            plain.remove(x);
          }
          sut->add(++number, whose, bytes, {++clock, 0});
          plain.entries.push_back({number, whose, bytes, clock});
          break;
        }
        case 2: {
          const auto steps = 5 * random.below(6);
          sut->use(any, ++clock);
          sut->save(any, steps);
          plain.use(any, clock, steps);
          break;
        }
        default:
          if (random.below(3) != 0)
            break;
          sut->remove(any);
          plain.remove(any);
      }
      BOOST_REQUIRE(sut->bytes() == plain.bytes());
      BOOST_REQUIRE(sut->entries() == plain.entries.size());
      BOOST_REQUIRE(sut->bytes() <= plain.most.bytes);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
