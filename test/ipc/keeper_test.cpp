// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/ipc/keeper.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <random>

namespace {

using namespace atelier;
using ipc::keeper;
using ipc::slot_kind;
using ipc::slot_ref;
using ipc::slot_state;

constexpr std::array one_state = {slot_kind::state};
constexpr core::ticket alice = {core::request_id{1}, 1};
constexpr core::ticket bob = {core::request_id{2}, 1};

constexpr ipc::process_life life_of(uint32_t process, uint32_t life = 1) {
  return {core::process_id{process}, core::incarnation{life}};
}

// Brings a new slot into `state`, granted to alice in process 1.
slot_ref slot_in(keeper& k, slot_state state) {
  auto slot = k.grant(alice, life_of(1), one_state)->front();
  switch (state) {
    case slot_state::granted:
      break;
    case slot_state::quarantined:
      k.suspect(life_of(1));
      break;
    case slot_state::held:
      k.release(slot, alice);
      break;
    case slot_state::free:
      k.release(slot, alice);
      k.supersede(slot);
      break;
  }
  return slot;
}

enum class event {
  release,
  release_by_stranger,
  supersede,
  end_request,
  end_other_request,
  suspect,
  suspect_other,
  confirm,
  confirm_other,
};

void apply(keeper& k, event what, const slot_ref& slot) {
  switch (what) {
    case event::release:
      k.release(slot, alice);
      break;
    case event::release_by_stranger:
      k.release(slot, bob);
      break;
    case event::supersede:
      k.supersede(slot);
      break;
    case event::end_request:
      k.end_request(alice.id);
      break;
    case event::end_other_request:
      k.end_request(bob.id);
      break;
    case event::suspect:
      k.suspect(life_of(1));
      break;
    case event::suspect_other:
      k.suspect(life_of(2));
      break;
    case event::confirm:
      k.confirm_exit(life_of(1));
      break;
    case event::confirm_other:
      k.confirm_exit(life_of(2));
      break;
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(keeper_test)

BOOST_AUTO_TEST_CASE(transitions_are_those_of_the_table) {
  using enum slot_state;

  struct row {
    event what;
    // The states after the event, from granted, quarantined and held.
    std::array<slot_state, 3> to;
  };

  constexpr row table[] = {
    {event::release, {held, quarantined, held}},
    {event::release_by_stranger, {granted, quarantined, held}},
    {event::supersede, {granted, quarantined, free}},
    {event::end_request, {granted, quarantined, free}},
    {event::end_other_request, {granted, quarantined, held}},
    {event::suspect, {quarantined, quarantined, held}},
    {event::suspect_other, {granted, quarantined, held}},
    {event::confirm, {held, held, held}},
    {event::confirm_other, {granted, quarantined, held}},
  };
  constexpr std::array from = {granted, quarantined, held};
  for (const auto& x : table) {
    for (size_t i = 0; i < from.size(); ++i) {
      keeper k{1, {1, 0, 0}};
      auto slot = slot_in(k, from[i]);
      BOOST_TEST_CONTEXT("event " << static_cast<int>(x.what) << " from "
                                  << static_cast<int>(from[i])) {
        apply(k, x.what, slot);
        auto to = k.state_of(slot).value_or(free);
        BOOST_TEST(static_cast<int>(to) == static_cast<int>(x.to[i]));
        BOOST_TEST(k.check() == "");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(all_slots_of_a_stage_or_none) {
  keeper k{1, {2, 1, 0}};
  constexpr std::array stage = {slot_kind::state, slot_kind::image};
  BOOST_TEST(k.grant(alice, life_of(1), stage).has_value());
  BOOST_TEST(!k.grant(bob, life_of(1), stage));
  BOOST_TEST(k.census(slot_kind::state).free == 1u);
  BOOST_TEST(!k.grant(bob, life_of(1), std::array{slot_kind::capture}));
}

BOOST_AUTO_TEST_CASE(a_reserve_stays_free) {
  keeper k{1, {2, 0, 0}};
  BOOST_TEST(!k.grant(alice, life_of(1), one_state, {2, 0, 0}));
  BOOST_TEST(k.grant(alice, life_of(1), one_state, {1, 0, 0}).has_value());
  BOOST_TEST(!k.grant(alice, life_of(1), one_state, {1, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_reserve_of_what_is_not_wanted_stays_free_too) {
  keeper k{1, {2, 1, 0}};
  BOOST_TEST(!k.grant(alice, life_of(1), one_state, {0, 2, 0}));
  BOOST_TEST(!k.grant(alice, life_of(1), one_state, {0, 1, 1}));
  BOOST_TEST(k.grant(alice, life_of(1), one_state, {0, 1, 0}).has_value());
}

BOOST_AUTO_TEST_CASE(who_wants_nothing_leaves_nothing) {
  keeper k{1, {1, 0, 0}};
  const auto nothing = k.grant(alice, life_of(1), {}, {9, 9, 9});
  BOOST_REQUIRE(nothing.has_value());
  BOOST_TEST(nothing->empty());
}

BOOST_AUTO_TEST_CASE(a_read_slot_is_not_freed) {
  keeper k{1, {1, 0, 0}};
  auto slot = slot_in(k, slot_state::held);
  BOOST_TEST(k.begin_read(slot, bob, life_of(2)));
  BOOST_TEST(k.begin_read(slot, bob, life_of(2)));
  k.end_request(alice.id);
  BOOST_TEST(k.census(slot_kind::state).held == 1u);
  k.end_read(slot, alice);
  BOOST_TEST(k.census(slot_kind::state).held == 1u);
  k.end_read(slot, bob);
  BOOST_TEST(k.census(slot_kind::state).free == 1u);
}

BOOST_AUTO_TEST_CASE(a_dead_reader_reads_no_more) {
  keeper k{1, {1, 0, 0}};
  auto slot = slot_in(k, slot_state::held);
  BOOST_TEST(k.begin_read(slot, bob, life_of(2)));
  k.supersede(slot);
  k.suspect(life_of(2));
  BOOST_TEST(k.census(slot_kind::state).held == 1u);
  k.confirm_exit(life_of(2));
  BOOST_TEST(k.census(slot_kind::state).free == 1u);
}

BOOST_AUTO_TEST_CASE(a_doomed_life_gets_nothing_the_next_one_does) {
  keeper k{1, {2, 0, 0}};
  auto slot = slot_in(k, slot_state::held);
  k.suspect(life_of(2, 4));
  BOOST_TEST(!k.grant(bob, life_of(2, 4), one_state));
  BOOST_TEST(!k.grant(bob, life_of(2, 3), one_state));
  BOOST_TEST(!k.begin_read(slot, bob, life_of(2, 4)));
  k.confirm_exit(life_of(2, 4));
  BOOST_TEST(!k.grant(bob, life_of(2, 4), one_state));
  BOOST_TEST(k.grant(bob, life_of(2, 5), one_state).has_value());
}

BOOST_AUTO_TEST_CASE(stale_references_do_nothing) {
  keeper k{1, {1, 0, 0}};
  auto old = slot_in(k, slot_state::free);
  auto slot = slot_in(k, slot_state::granted);
  BOOST_TEST(slot.slot == old.slot);
  BOOST_TEST(!k.release(old, alice));
  BOOST_TEST(!k.begin_read(old, alice, life_of(1)));
  k.supersede(old);
  k.end_read(old, alice);
  BOOST_TEST(!k.state_of(old).has_value());
  for (auto x : {slot_ref{2, 0, 2, slot_kind::state},
                 slot_ref{1, 9, 2, slot_kind::state},
                 slot_ref{1, 0, 0, slot_kind::state},
                 slot_ref{1, 0, 2, slot_kind::image},
                 slot_ref{1, 0, 2, static_cast<slot_kind>(77)}})
    BOOST_TEST(!k.state_of(x).has_value());
  BOOST_TEST(k.census(slot_kind::state).granted == 1u);
}

BOOST_AUTO_TEST_CASE(the_generation_wraps_past_zero) {
  keeper k{1, {1, 0, 0}, std::numeric_limits<uint32_t>::max() - 1};
  BOOST_TEST(slot_in(k, slot_state::free).generation
             == std::numeric_limits<uint32_t>::max());
  BOOST_TEST(slot_in(k, slot_state::free).generation == 1u);
}

BOOST_AUTO_TEST_CASE(a_requests_slots_are_freed_by_kind_and_number) {
  keeper k{7, {2, 4, 0}};
  constexpr std::array kinds{slot_kind::image, slot_kind::state,
                             slot_kind::image};
  constexpr std::array one_image{slot_kind::image};
  const auto first = k.grant(alice, life_of(1), kinds)->front();
  const auto of_bob = k.grant(bob, life_of(1), one_image)->front();
  const auto later = k.grant({alice.id, 2}, life_of(1), one_image)->front();
  k.confirm_exit(life_of(1));
  k.end_request(alice.id);
  BOOST_TEST((k.state_of(of_bob) == slot_state::held));
  BOOST_TEST(!k.state_of(first));
  BOOST_TEST(!k.state_of(later));
  BOOST_TEST(k.census(slot_kind::image).free == 3u);
  BOOST_TEST(k.census(slot_kind::state).free == 2u);
  BOOST_TEST(k.check() == "");
  // The last freed one is granted first.
  const auto again =
    k.grant(alice, life_of(2),
            std::array{slot_kind::image, slot_kind::image, slot_kind::image});
  BOOST_REQUIRE(again.has_value());
  BOOST_TEST((*again)[0].slot == 3u);
  BOOST_TEST((*again)[1].slot == 1u);
  BOOST_TEST((*again)[2].slot == 0u);
}

BOOST_AUTO_TEST_CASE(long_random_runs_keep_the_invariants) {
  std::mt19937_64 rng{test::seed()};
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(rng() % n); };
  constexpr uint32_t processes = 5;
  constexpr uint32_t requests = 12;
  keeper k{3, {9, 6, 4}};
  std::vector<slot_ref> known(1);
  std::array<uint32_t, processes> life = {1, 1, 1, 1, 1};
  for (size_t i = 0, n = test::scaled(3'000'000); i < n; ++i) {
    auto p = below(processes);
    auto in = life_of(p, life[p]);
    core::ticket who{core::request_id{below(requests)}, below(3)};
    const auto slot = known[below(static_cast<uint32_t>(known.size()))];
    switch (below(9)) {
      case 0:
      case 1: {
        std::vector<slot_kind> kinds(1 + below(3));
        for (auto& x : kinds)
          x = static_cast<slot_kind>(below(3));
        if (auto got = k.grant(who, in, kinds))
          known.insert(known.end(), got->begin(), got->end());
        break;
      }
      case 2:
        k.begin_read(slot, who, in);
        break;
      case 3:
        k.end_read(slot, who);
        break;
      case 4:
        k.release(slot, who);
        break;
      case 5:
        k.supersede(slot);
        break;
      case 6:
        k.end_request(who.id);
        break;
      case 7:
        k.suspect(in);
        break;
      default:
        k.confirm_exit(in);
        ++life[p];
    }
    if (known.size() > 64)
      known.erase(known.begin(), known.begin() + 32);
    auto broken = k.check();
    if (!broken.empty())
      BOOST_FAIL("after " << i << " events: " << broken);
  }
  for (uint32_t p = 0; p < processes; ++p)
    k.confirm_exit(life_of(p, life[p]));
  for (uint32_t r = 0; r < requests; ++r)
    k.end_request(core::request_id{r});
  for (auto kind : {slot_kind::state, slot_kind::image, slot_kind::capture})
    BOOST_TEST(k.census(kind).free == k.count(kind));
}

BOOST_AUTO_TEST_SUITE_END()
