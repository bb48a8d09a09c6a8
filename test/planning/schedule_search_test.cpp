// SPDX-License-Identifier: Apache-2.0

// Compares the search for stuck schedules with a brute force. The file is long
// because every pipeline, ours and the broken ones, is tried by the same rules.

#include "planning/every_schedule.hpp"
#include "planning/listed_stages.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/planning/schedule_search.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::test;

namespace {

constexpr auto reads = planning::access::reads;
constexpr auto writes = planning::access::writes;
constexpr auto replaces = planning::access::replaces;

constexpr auto states = static_cast<size_t>(ipc::slot_kind::state);
constexpr auto images = static_cast<size_t>(ipc::slot_kind::image);

const std::vector<uint32_t> kept{5, 10};

searched_row plain() {
  return {route_of("plain", {leg_from(origin::noise, 0, kept)})};
}

searched_row with_source() {
  return {plain().route, true};
}

searched_row drawn_on() {
  return {route_of("drawn on", {leg_from(origin::noise, 0, kept),
                                leg_from(origin::stage_image, 4)})};
}

searched_row gated(bool brings_image = false) {
  auto first = leg_from(origin::noise);
  first.check = gate{"judge", 0};
  return {route_of("gated", {first, leg_from(origin::noise, 0, kept)}),
          brings_image};
}

searched_row from_latent() {
  return {route_of("from a latent", {leg_from(origin::latent, 5, {10})})};
}

searched_row from_image() {
  return {route_of("from an image", {leg_from(origin::image, 5, {10})})};
}

searched_row three_legs() {
  return {route_of("three", {leg_from(origin::noise), leg_from(origin::noise),
                             leg_from(origin::noise)})};
}

bool can_run(const pipeline& stages, const searched_row& x,
             const slot_counts& there) {
  const auto least = stages.least(x.route, x.brings_image);
  return least[states] <= there[states] && least[images] <= there[images];
}

// Returns the first stuck schedule of four rows, for each choice of rows that
// can run, with 2..4 states and 3..5 images.
std::string stuck_of_four(const pipeline& stages,
                          const std::vector<searched_row>& all,
                          uint32_t captures, const search_rules& rules = {}) {
  for (uint32_t s = 2; s <= 4; ++s)
    for (uint32_t i = 3; i <= 5; ++i) {
      const slot_counts there{s, i, captures};
      std::vector<searched_row> rows;
      for (const auto& x : all)
        if (can_run(stages, x, there))
          rows.push_back(x);
      for (size_t a = 0; a < rows.size(); ++a)
        for (size_t b = a; b < rows.size(); ++b)
          for (size_t c = b; c < rows.size(); ++c)
            for (size_t d = c; d < rows.size(); ++d)
              if (auto stuck = stuck_schedule(
                    stages, {rows[a], rows[b], rows[c], rows[d]}, there, rules))
                return *stuck;
    }
  return {};
}

// Returns every route of at most three legs that a policy may choose, with an
// image of the request's and without.
std::vector<searched_row> every_row() {
  constexpr std::array all{origin::noise, origin::latent, origin::image,
                           origin::template_image, origin::stage_image};
  std::vector<std::vector<leg>> routes{{}};
  for (size_t first = 0, legs = 0; legs < 3; ++legs) {
    const auto last = routes.size();
    for (; first < last; ++first)
      for (const auto from : all) {
        if (legs == 0 && from == origin::stage_image)
          continue;
        auto longer = routes[first];
        longer.push_back(leg_from(from, from == origin::noise ? 0 : 4));
        routes.push_back(std::move(longer));
      }
  }
  std::vector<searched_row> out;
  for (const auto& legs : routes)
    for (const bool brings_image : {false, true}) {
      std::string name;
      for (const auto& x : legs)
        name += fmt::format("{}{}", name.empty() ? "" : ", then ",
                            static_cast<int>(x.from));
      out.push_back({route_of(name, legs), brings_image});
      if (legs.empty())
        out.back().route.from = origin::image;
    }
  return out;
}

// Returns one of all rows that take and leave the same slots everywhere.
std::vector<searched_row> distinct_rows(const pipeline& stages) {
  std::vector<searched_row> out;
  std::set<std::vector<slot_counts>> seen;
  for (auto& x : every_row()) {
    const auto legs = x.route.legs.size();
    std::vector<slot_counts> needs;
    for (size_t leg = 0; leg <= legs; ++leg)
      for (size_t i = 0; i < stages.size(); ++i)
        if (const auto& row = stages.at(i).row();
            row.hook
            == (leg < legs || (leg == 0 && i < stages.denoise())
                  ? hook::each_leg
                  : hook::before_answer)) {
          needs.push_back(stages.granted(x.route, {leg, i}, x.brings_image));
          needs.push_back(stages.reserve(x.route, {leg, i}, x.brings_image));
        }
    if (seen.insert(std::move(needs)).second)
      out.push_back(std::move(x));
  }
  return out;
}

// Returns the least slots with which both can run, and one more of each kind.
std::vector<slot_counts> around(const pipeline& stages, const searched_row& one,
                                const searched_row& other) {
  const auto a = stages.least(one.route, one.brings_image);
  const auto b = stages.least(other.route, other.brings_image);
  std::vector<slot_counts> out;
  for (const uint32_t more_states : {0u, 1u})
    for (const uint32_t more_images : {0u, 1u})
      out.push_back({std::max(a[states], b[states]) + more_states,
                     std::max(a[images], b[images]) + more_images, 0});
  return out;
}

// Returns the stuck schedule of equal rows.
std::string stuck_of(const pipeline& stages, size_t rows,
                     const searched_row& each, const slot_counts& there,
                     const search_rules& rules) {
  return stuck_schedule(stages, std::vector(rows, each), there, rules)
    .value_or("");
}

bool names(const std::string& text, std::string_view what) {
  return text.find(what) != text.npos;
}

// Returns rules with the reserves of another pipeline, so that the rows do not
// describe the stages.
search_rules pretending(pipeline stages) {
  search_rules out;
  out.reserve = [stages](const route& along, pipeline::position at,
                         bool brings_image) {
    return stages.reserve(along, at, brings_image);
  };
  return out;
}

// Returns rules whose reserves are f of the pipeline's.
template <class F>
search_rules reserving(pipeline stages, F f) {
  search_rules out;
  out.reserve = [stages, f](const route& along, pipeline::position at,
                            bool brings_image) {
    return f(stages.reserve(along, at, brings_image));
  };
  return out;
}

// Returns rules by which preparing leaves a state for each remaining leg, as
// the scheduler once did.
search_rules states_by_legs(search_rules rules) {
  const auto stages = standard_list();
  rules.reserve = [stages](const route& along, pipeline::position at,
                           bool brings_image) {
    auto out = stages.reserve(along, at, brings_image);
    if (at.stage == *stages.find("prepare"))
      out[states] = static_cast<uint32_t>(along.legs.size() - at.leg);
    return out;
  };
  return rules;
}

// Returns a request of one to five legs.
searched_row long_row(core::philox& random, bool fetches) {
  constexpr std::array<origin, 3> starts{origin::noise, origin::latent,
                                         origin::image};
  std::vector<leg> legs;
  for (auto n = 1 + random.below(5); n > 0; --n) {
    const auto from = legs.empty()
                      ? starts[fetches ? random.below(starts.size()) : 0]
                    : random.below(2) == 0 ? origin::noise
                                           : origin::stage_image;
    auto x = leg_from(from, from == origin::noise ? 0 : 4);
    if (random.below(3) == 0)
      x.capture = kept;
    if (random.below(4) == 0)
      x.check = gate{"judge", 0};
    legs.push_back(std::move(x));
  }
  return {route_of(std::to_string(legs.size()) + " legs", std::move(legs)),
          random.below(4) == 0};
}

pipeline with(const pipeline& stages, stage_ptr x, std::string_view after) {
  auto out = stages;
  if (const auto added = out.add(std::move(x), after); !added)
    throw std::logic_error(core::to_string(added.why()));
  return out;
}

bool in_later_leg(const leg* in, bool) {
  return in != nullptr && in->from == origin::stage_image;
}

// -- random pipelines ---------------------------------------------------------

bool brings(const leg* in, bool brings_image) {
  return in != nullptr && brings_image;
}

pipeline random_stages(core::philox& random) {
  constexpr std::array names{held::source, held::state, held::pixels,
                             held::encoded, held::capture};
  constexpr std::array hows{reads, writes, replaces};
  constexpr std::array<bool (*)(const leg*, bool), 3> whens{nullptr, brings,
                                                            in_later_leg};
  const auto uses = [&] {
    std::vector<slot_use> out;
    for (auto n = random.below(3); n > 0; --n)
      out.push_back({names[random.below(names.size())],
                     hows[random.below(hows.size())],
                     whens[random.below(whens.size())]});
    if (random.below(4) == 0)
      out.push_back({held::files, reads, brings});
    return out;
  };
  std::vector<stage_ptr> out;
  constexpr std::array each{"one", "two"};
  for (size_t i = 0, n = 1 + random.below(each.size()); i < n; ++i)
    out.push_back(stage_of(each[i], hook::each_leg, uses()));
  out.push_back(stage_of("last", hook::before_answer, uses()));
  return pipeline_of(out);
}

// Returns random reserves by place.
search_rules random_rules(core::philox& random) {
  search_rules out;
  out.kinds_apart = random.below(2) == 0;
  out.waits_for_captures = random.below(3) == 0;
  if (random.below(3) == 0)
    return out;
  std::array<slot_counts, 16> drawn{};
  for (auto& x : drawn)
    x = {static_cast<uint32_t>(random.below(3)),
         static_cast<uint32_t>(random.below(3)), 0};
  out.reserve = [drawn](const route&, pipeline::position at, bool) {
    return drawn[(at.leg * 4 + at.stage) % drawn.size()];
  };
  return out;
}

searched_row random_row(core::philox& random) {
  auto first = leg_from(origin::noise);
  if (random.below(3) == 0)
    first.check = gate{"judge", 0};
  std::vector<leg> legs{first};
  if (random.below(3) == 0)
    legs.push_back(leg_from(origin::stage_image, 1));
  return {route_of("random", legs), random.below(2) == 0};
}

// About one of twelve random pipelines has more moments than this.
constexpr size_t most_looks = 100'000;

} // namespace

BOOST_AUTO_TEST_SUITE(schedule_search_test)

// -- ours ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(no_schedule_of_the_standard_list_gets_stuck) {
  BOOST_TEST(stuck_of_four(standard_list(),
                           {plain(), with_source(), drawn_on(), gated(),
                            gated(true), three_legs()},
                           0)
             == "");
}

BOOST_AUTO_TEST_CASE(no_schedule_gets_stuck_with_captures) {
  for (const uint32_t captures : {0u, 1u, 2u})
    BOOST_TEST(stuck_of_four(capturing_list(),
                             {plain(), with_source(), drawn_on(), gated(),
                              gated(true), three_legs()},
                             captures)
               == "");
}

BOOST_AUTO_TEST_CASE(no_schedule_gets_stuck_where_work_is_fetched) {
  for (const uint32_t captures : {0u, 2u})
    BOOST_TEST(stuck_of_four(fetching_list(),
                             {plain(), with_source(), from_latent(),
                              from_image(), gated(), drawn_on(), three_legs()},
                             captures)
               == "");
}

// Every route of at most three legs, each from every origin, with an image and
// without one. Requests that take the same slots everywhere count once.
BOOST_AUTO_TEST_CASE(no_schedule_of_the_whole_list_gets_stuck) {
  const auto stages = full_list();
  const auto rows = distinct_rows(stages);
  BOOST_TEST_MESSAGE(rows.size() << " distinct requests");
  for (const auto& one : rows)
    for (const auto& other : rows)
      for (const auto& there : around(stages, one, other))
        BOOST_TEST_REQUIRE(
          stuck_schedule(stages, {one, other, other}, there).value_or("")
          == "");
}

// Without the rule that keeps slots free for the rest of a route, each of them
// gets stuck beside others like it.
BOOST_AUTO_TEST_CASE(without_reserves_every_drawn_row_of_the_list_gets_stuck) {
  const auto stages = full_list();
  search_rules rules;
  rules.reserve = [](const route&, pipeline::position, bool) {
    return slot_counts{};
  };
  for (const auto& x : distinct_rows(stages))
    if (!x.route.legs.empty())
      BOOST_TEST(stuck_schedule(stages, {x, x, x},
                                stages.least(x.route, x.brings_image), rules)
                   .has_value(),
                 x.route.name);
}

// -- broken pipelines ---------------------------------------------------------

BOOST_AUTO_TEST_CASE(nothing_reserved_gets_stuck) {
  search_rules rules;
  rules.reserve = [](const route&, pipeline::position, bool) {
    return slot_counts{};
  };
  BOOST_TEST(
    stuck_of(standard_list(), 3, plain(), {2, 3, 0}, rules)
    == "row 1: prepare\n"
       "row 2: prepare\n"
       "row 1 (route 'plain') waits forever for denoise, which needs 1 free "
       "state slots where 0 of 2 are\n"
       "row 2 (route 'plain') waits forever for denoise, which needs 1 free "
       "state slots where 0 of 2 are\n"
       "row 3 (route 'plain') waits forever for prepare, which needs 1 free "
       "state slots where 0 of 2 are\n");
}

BOOST_AUTO_TEST_CASE(a_reserve_without_the_encoded_file_gets_stuck) {
  const auto rules = reserving(standard_list(), [](slot_counts x) {
    x[images] -= std::min(x[images], 1u);
    return x;
  });
  const auto text = stuck_of(standard_list(), 4, plain(), {2, 3, 0}, rules);
  BOOST_TEST(names(text, "row 3: denoise\n"));
  BOOST_TEST(names(text, "row 1 (route 'plain') waits forever for finish, "
                         "which needs 1 free image slots where 0 of 3 are\n"));
}

BOOST_AUTO_TEST_CASE(an_upscaler_that_writes_where_its_row_reads_gets_stuck) {
  const auto says = with(standard_list(), upscale_stage(reads), "denoise");
  const auto does = with(standard_list(), upscale_stage(writes), "denoise");
  const auto text = stuck_of(does, 4, plain(), {2, 3, 0}, pretending(says));
  BOOST_TEST(names(text, "row 1: prepare\n"));
  BOOST_TEST(names(text, "waits forever for upscale, which needs 2 free "
                         "image slots where 1 of 3 are\n"));
  BOOST_TEST(stuck_of(does, 4, plain(), {2, 3, 0}, {}) == "");
}

// The image of the leg before stays beside the one that was made of it.
BOOST_AUTO_TEST_CASE(a_stage_that_makes_the_start_of_a_later_leg_is_sound) {
  const auto smooth = stage_of("smooth", hook::each_leg,
                               {{held::pixels, replaces, in_later_leg}});
  const auto stages = with(standard_list(), smooth, "prepare");
  BOOST_TEST(stuck_of_four(stages, {plain(), drawn_on(), three_legs()}, 0)
             == "");
  BOOST_TEST(static_cast<bool>(check(stages, {16, 16, 4})));
  // These rules count as if the stage freed that image.
  search_rules rules;
  rules.reserve = [stages](const route& along, pipeline::position at,
                           bool brings_image) {
    auto out = stages.reserve(along, at, brings_image);
    if (at.leg == 1 && at.stage == *stages.find("smooth"))
      --out[images];
    return out;
  };
  std::string text;
  for (auto there = stages.least(drawn_on().route, false);
       text.empty() && there[images] < 9; ++there[images])
    text = stuck_of(stages, 4, drawn_on(), {4, there[images], 0}, rules);
  BOOST_TEST(names(text, "smooth of leg 2\n"));
  BOOST_TEST(names(text, "waits forever for"));
}

BOOST_AUTO_TEST_CASE(a_state_that_no_row_counts_gets_stuck) {
  const auto stage = [](std::vector<slot_use> slots) {
    return stage_of("vary", hook::each_leg, std::move(slots));
  };
  const auto says = with(standard_list(), stage({}), "prepare");
  const auto does =
    with(standard_list(), stage({{held::state, writes}}), "prepare");
  const auto text = stuck_of(does, 4, plain(), {3, 5, 0}, pretending(says));
  BOOST_TEST(names(text, "row 1: prepare\n"));
  BOOST_TEST(names(text, "waits forever for vary, which needs 2 free state "
                         "slots where 1 of 3 are\n"));
  BOOST_TEST(stuck_of(does, 4, plain(), {3, 5, 0}, {}) == "");
}

BOOST_AUTO_TEST_CASE(a_leg_that_waits_for_a_capture_gets_stuck) {
  search_rules rules;
  rules.waits_for_captures = true;
  const searched_row twice{route_of("kept", {leg_from(origin::noise, 0, {5}),
                                             leg_from(origin::noise, 0, {5})})};
  const auto text = stuck_of(capturing_list(), 2, twice, {4, 5, 2}, rules);
  BOOST_TEST(names(text, "row 1: denoise of leg 1, keeps 1\n"));
  BOOST_TEST(names(text, "row 2: denoise of leg 1, keeps 1\n"));
  BOOST_TEST(names(text, "row 2 (route 'kept') waits forever for denoise of "
                         "leg 2, which needs 1 free capture slots where 0 of 2 "
                         "are\n"));
  BOOST_TEST(stuck_of(capturing_list(), 2, twice, {4, 5, 2}, {}) == "");
}

BOOST_AUTO_TEST_CASE(a_reserve_that_forgets_later_legs_gets_stuck) {
  const auto stages = standard_list();
  search_rules rules;
  rules.reserve = [stages](route along, pipeline::position at, bool brings) {
    along.legs.resize(std::min(at.leg + 1, along.legs.size()));
    return stages.reserve(along, at, brings);
  };
  const auto text = stuck_of(stages, 3, drawn_on(), {3, 4, 0}, rules);
  BOOST_TEST(names(text, "row 1: denoise of leg 1\n"));
  BOOST_TEST(names(text, "waits forever for prepare of leg 2"));
}

BOOST_AUTO_TEST_CASE(a_stage_that_replaces_what_is_not_there_gets_stuck) {
  const auto stages = with(
    standard_list(),
    stage_of("mark", hook::each_leg, {{held::encoded, replaces}}), "prepare");
  const auto text = stuck_of(stages, 4, plain(), {4, 3, 0}, {});
  BOOST_TEST(names(text, "row 1: mark\n"));
}

// -- the former rules ---------------------------------------------------------

// Preparing takes a state. So a request starts whose next stage needs images
// that a request with more remaining legs keeps.
BOOST_AUTO_TEST_CASE(kinds_apart_get_stuck_with_three_legs) {
  search_rules rules;
  rules.kinds_apart = true;
  const std::vector rows{drawn_on(), drawn_on(), three_legs()};
  BOOST_TEST(
    stuck_schedule(standard_list(), rows, {4, 4, 0}, states_by_legs(rules))
      .value_or("")
    == "row 3: prepare of leg 1\n"
       "row 1: prepare of leg 1\n"
       "row 3: denoise of leg 1\n"
       "row 2: prepare of leg 1\n"
       "row 1 (route 'drawn on') waits forever for denoise of leg 1, which "
       "needs 4 free image slots where 3 of 4 are\n"
       "row 2 (route 'drawn on') waits forever for denoise of leg 1, which "
       "needs 4 free image slots where 3 of 4 are\n"
       "row 3 (route 'three') waits forever for prepare of leg 2, which needs "
       "3 free state slots where 2 of 4 are\n");
  BOOST_TEST(
    stuck_schedule(standard_list(), rows, {3, 4, 0}, rules).has_value());
  for (const uint32_t s : {3u, 4u})
    BOOST_TEST(!stuck_schedule(standard_list(), rows, {s, 4, 0}).has_value());
}

// Denoising left no states for the next leg, which waited for more than a leg
// frees.
BOOST_AUTO_TEST_CASE(states_by_legs_get_stuck_with_five_legs) {
  const auto noise = leg_from(origin::noise);
  const auto on = leg_from(origin::stage_image, 4);
  const searched_row drawn_on_twice{route_of("drawn on", {noise, on, on})};
  const searched_row five{
    route_of("five", {noise, noise, noise, noise, noise})};
  const std::vector rows{drawn_on_twice, drawn_on_twice, five};
  const slot_counts there{6, 6, 0};
  const auto text =
    stuck_schedule(standard_list(), rows, there, states_by_legs({}))
      .value_or("");
  BOOST_TEST(names(text, "row 3 (route 'five') waits forever for prepare of "
                         "leg 2, which needs 5 free state slots where 4 of 6 "
                         "are\n"));
  BOOST_TEST(!stuck_schedule(standard_list(), rows, there).has_value());
}

// -- longer routes ------------------------------------------------------------

BOOST_AUTO_TEST_CASE(no_schedule_of_one_to_five_legs_gets_stuck) {
  core::philox random{test::seed(), core::purpose::test};
  search_rules apart;
  apart.kinds_apart = true;
  std::array<size_t, 6> by_legs{};
  size_t stuck = 0;
  const auto rounds = std::max<size_t>(200, test::scaled(20'000));
  for (size_t round = 0; round < rounds; ++round) {
    const bool fetches = random.below(2) == 0;
    const auto stages = fetches              ? fetching_list()
                      : random.below(2) == 0 ? capturing_list()
                                             : standard_list();
    const slot_counts there{static_cast<uint32_t>(2 + random.below(3)),
                            static_cast<uint32_t>(3 + random.below(5)),
                            static_cast<uint32_t>(random.below(3))};
    std::vector<searched_row> rows;
    // Requests of one route are searched as one, so that few different rows
    // exist.
    while (rows.size() < 4) {
      const auto x = long_row(random, fetches);
      for (auto n = can_run(stages, x, there) ? 1 + random.below(3) : 0;
           n > 0 && rows.size() < 4; --n) {
        rows.push_back(x);
        ++by_legs[x.route.legs.size()];
      }
    }
    const auto found = stuck_schedule(stages, rows, there);
    BOOST_TEST_REQUIRE(found.value_or("") == "");
    if (round < 200)
      stuck += stuck_schedule(stages, rows, there, apart) ? 1u : 0u;
  }
  BOOST_TEST_MESSAGE(rounds << " searches; of the first 200, " << stuck
                            << " get stuck with kinds apart");
  for (size_t legs = 1; legs < by_legs.size(); ++legs)
    BOOST_TEST(by_legs[legs] > 0u, legs << " legs");
  BOOST_TEST(stuck > 0u);
}

// -- the search itself --------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_search_that_has_seen_enough_finds_nothing) {
  search_rules rules;
  rules.reserve = [](const route&, pipeline::position, bool) {
    return slot_counts{};
  };
  rules.most_states = 2;
  BOOST_TEST(stuck_of(standard_list(), 3, plain(), {2, 3, 0}, rules) == "");
}

BOOST_AUTO_TEST_CASE(nobody_waits_where_nobody_is) {
  BOOST_TEST(!stuck_schedule(standard_list(), {}, {0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_gate_lets_a_request_leave_out_its_later_legs) {
  search_rules rules;
  rules.reserve = [](const route&, pipeline::position, bool) {
    return slot_counts{};
  };
  const auto text = stuck_of(standard_list(), 2, gated(), {4, 2, 0}, rules);
  BOOST_TEST(names(text, "row 1: denoise of leg 1, passes the gate\n"));
  BOOST_TEST(names(text, "row 1 (route 'gated') waits forever for finish"));
}

BOOST_AUTO_TEST_CASE(the_same_is_found_as_by_every_schedule_in_full) {
  core::philox random{test::seed(), core::purpose::test};
  size_t stuck = 0;
  size_t too_long = 0;
  const auto rounds = std::max<size_t>(200, test::scaled(2'000));
  for (size_t round = 0; round < rounds; ++round) {
    const auto stages = random_stages(random);
    const auto rules = random_rules(random);
    std::vector<searched_row> rows{random_row(random)};
    rows.push_back(random.below(2) == 0 ? rows[0] : random_row(random));
    const slot_counts there{static_cast<uint32_t>(1 + random.below(3)),
                            static_cast<uint32_t>(1 + random.below(4)),
                            static_cast<uint32_t>(random.below(3))};
    const auto in_full =
      every_schedule(stages, rows, there, rules).gets_stuck(most_looks);
    if (!in_full) {
      ++too_long;
      continue;
    }
    const auto found = stuck_schedule(stages, rows, there, rules);
    BOOST_TEST_REQUIRE(found.has_value() == *in_full);
    stuck += found.has_value() ? 1u : 0u;
  }
  BOOST_TEST(too_long < rounds / 4);
  BOOST_TEST(stuck > rounds / 10);
  BOOST_TEST(stuck < rounds * 9 / 10);
}

BOOST_AUTO_TEST_CASE(a_stage_does_not_replace_what_it_writes_itself) {
  const auto sut = pipeline_of(
    {stage_of("one", hook::each_leg,
              {{held::encoded, writes}, {held::encoded, replaces}}),
     stage_of("last", hook::before_answer, {{held::source, replaces}})});
  search_rules rules;
  rules.reserve = [](const route&, pipeline::position at, bool) {
    return slot_counts{0, at.leg == 0 ? 0u : 1u, 0};
  };
  const slot_counts there{1, 3, 0};
  // The first stage keeps two of three slots, so that the last one lacks one.
  BOOST_TEST(stuck_schedule(sut, {plain()}, there, rules).has_value());
  BOOST_TEST(every_schedule(sut, {plain()}, there, rules)
               .gets_stuck(most_looks)
               .value());
}

BOOST_AUTO_TEST_CASE(the_standard_list_is_found_sound_in_full_too) {
  for (const auto& x : {plain(), with_source()})
    for (uint32_t s = 2; s <= 3; ++s) {
      const slot_counts there{s, 3, 0};
      BOOST_TEST(!every_schedule(standard_list(), {x, x}, there, {})
                    .gets_stuck(most_looks)
                    .value());
    }
  search_rules none;
  none.reserve = [](const route&, pipeline::position, bool) {
    return slot_counts{};
  };
  BOOST_TEST(
    every_schedule(standard_list(), {plain(), plain()}, {2, 3, 0}, none)
      .gets_stuck(most_looks)
      .value());
}

// -- at the start -------------------------------------------------------------

BOOST_AUTO_TEST_CASE(sound_pipelines_pass_the_check) {
  const slot_counts there{16, 16, 4};
  BOOST_TEST(static_cast<bool>(check(standard_list(), there)));
  BOOST_TEST(static_cast<bool>(check(capturing_list(), there)));
  BOOST_TEST(static_cast<bool>(check(fetching_list(), there)));
  BOOST_TEST(static_cast<bool>(
    check(with(fetching_list(), upscale_stage(writes), "denoise"), there)));
  BOOST_TEST(static_cast<bool>(
    check(with(fetching_list(), upscale_stage(replaces), "denoise"), there)));
}

BOOST_AUTO_TEST_CASE(a_pipeline_that_gets_stuck_fails_the_check) {
  const auto found =
    check(with(standard_list(),
               stage_of("mark", hook::each_leg, {{held::encoded, replaces}}),
               "prepare"),
          {16, 16, 4});
  BOOST_TEST_REQUIRE(!found);
  BOOST_TEST((found.why().code == core::ec::bad_config));
  BOOST_TEST(names(found.why().text, "requests can wait for slots forever"));
  BOOST_TEST(names(found.why().text, "row 1: mark\n"));
}

BOOST_AUTO_TEST_CASE(stages_that_nobody_grants_slots_fail_the_check) {
  const auto before = check(
    pipeline_of({stage_of("mask", hook::before_route, {{held::source, writes}}),
                 actors::denoise_stage()}),
    {16, 16, 4});
  BOOST_TEST_REQUIRE(!before);
  BOOST_TEST((before.why().code == core::ec::bad_config));
  BOOST_TEST(before.why().text
             == "stage 'mask' writes 'source' before the route, where no slots "
                "are granted");
  const auto after =
    check(with(standard_list(),
               stage_of("keep", hook::after_answer, {{held::pixels, replaces}}),
               "finish"),
          {16, 16, 4});
  BOOST_TEST_REQUIRE(!after);
  BOOST_TEST(after.why().text
             == "stage 'keep' writes 'pixels' after the answer, where no slots "
                "are granted");
}

BOOST_AUTO_TEST_CASE(too_few_slots_for_any_request_fail_the_check) {
  BOOST_TEST(static_cast<bool>(check(standard_list(), {2, 2, 0})));
  const auto found =
    check(with(standard_list(), upscale_stage(writes), "denoise"), {2, 2, 0});
  BOOST_TEST_REQUIRE(!found);
  BOOST_TEST(found.why().text
             == "the stages need 2 state and 3 image slots for a request of "
                "one leg, but only 2 and 2 exist (arena.state_slots, "
                "arena.image_slots)");
}

BOOST_AUTO_TEST_SUITE_END()
