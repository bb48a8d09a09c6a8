// SPDX-License-Identifier: Apache-2.0
#include "planning/listed_stages.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/planning/pipeline.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::test;
using core::ec;

namespace {

constexpr slot_counts counts(uint32_t states, uint32_t images) {
  return {states, images, 0};
}

// -- the former constants of the reserves, which now follow from rows ---------

// Copies image_slots_from of actors/slot_needs.hpp: the slots that must be free
// for a request to pass through a leg's stage and everything after it. Stage 0
// prepares, 1 denoises, 2 finishes.
uint32_t image_slots_from(const route& along, size_t leg, int stage,
                          bool brings_image) {
  uint32_t needs = 1;
  if (stage == 2)
    return needs;
  for (size_t i = leg; i < along.legs.size(); ++i)
    needs += has_source(along.legs[i], brings_image) ? 2u : 1u;
  if (stage == 1 && has_source(along.legs[leg], brings_image))
    --needs;
  return needs;
}

// The noise, and the state that denoising makes of it: a leg frees both. The
// former constant was one for each remaining leg and one more, and let routes
// of five legs wait forever beside others (schedule_search_test).
constexpr uint32_t state_slots_of_leg = 2;

// Copies slots::left_for_next of actors/scheduler/slots.
slot_counts left_for_next(const route& along, size_t leg, int stage,
                          bool brings_image) {
  const bool last = leg + 1 >= along.legs.size();
  if (stage == 0)
    return counts(state_slots_of_leg - 1,
                  image_slots_from(along, leg, 1, brings_image));
  if (stage == 1)
    return counts(0,
                  image_slots_from(along, leg + 1, last ? 2 : 0, brings_image));
  return counts(0, 0);
}

route random_route(core::philox& random) {
  constexpr std::array origins{origin::noise, origin::latent, origin::image,
                               origin::stage_image, origin::template_image};
  std::vector<leg> legs;
  for (auto n = 1 + random.below(4); n > 0; --n)
    legs.push_back(leg_from(origins[random.below(origins.size())],
                            static_cast<uint32_t>(random.below(3))));
  return route_of("random", std::move(legs));
}

std::string error_of(const core::result<void>& x) {
  return x ? std::string{} : core::to_string(x.why());
}

} // namespace

BOOST_AUTO_TEST_SUITE(pipeline_test)

// -- order --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(stages_stand_in_the_order_in_which_they_were_added) {
  const auto sut = capturing_list();
  BOOST_TEST_REQUIRE(sut.size() == 4u);
  BOOST_TEST(sut.at(0).row().name == "prepare");
  BOOST_TEST(sut.at(3).row().name == "remember");
  BOOST_TEST((sut.find("finish") == std::optional<size_t>{2}));
  BOOST_TEST(!sut.find("fetch").has_value());
}

BOOST_AUTO_TEST_CASE(a_stage_can_be_put_behind_another_one) {
  auto sut = standard_list();
  BOOST_TEST(
    error_of(sut.add(fetch_stage()))
    == "invalid_argument: stage "
       "'fetch' cannot be after 'finish': the order is stages before the "
       "route, of each leg, before the answer, and after the answer");
  BOOST_TEST_REQUIRE(error_of(sut.add(fetch_stage(), "prepare")) == "");
  BOOST_TEST(sut.at(1).row().name == "fetch");
  BOOST_TEST_REQUIRE(
    error_of(sut.add(stage_of("judge", hook::each_leg), "denoise")) == "");
  BOOST_TEST_REQUIRE(
    error_of(sut.add(stage_of("check", hook::before_answer), "judge")) == "");
  BOOST_TEST(sut.signature()
             == "prepare/1 fetch/1@control denoise/1 judge/1 check/1 finish/1");
}

BOOST_AUTO_TEST_CASE(a_stage_before_its_hook_or_behind_it_is_refused) {
  auto sut = standard_list();
  BOOST_TEST(
    error_of(sut.add(stage_of("check", hook::before_answer), "prepare"))
    == "invalid_argument: stage 'check' cannot be before "
       "'denoise': the order is stages before the route, of each leg, "
       "before the answer, and after the answer");
  BOOST_TEST(!sut.add(stage_of("late", hook::each_leg), "finish"));
  BOOST_TEST(!sut.add(stage_of("classify", hook::before_route)));
  BOOST_TEST(!sut.add(stage_of("keep", hook::after_answer), "denoise"));
  BOOST_TEST(sut.size() == 3u);
  BOOST_TEST(sut.denoise() == 1u);
}

BOOST_AUTO_TEST_CASE(names_are_there_once_and_not_empty) {
  auto sut = standard_list();
  BOOST_TEST(error_of(sut.add(stage_of("finish", hook::before_answer)))
             == "invalid_argument: a stage 'finish' already exists");
  BOOST_TEST(error_of(sut.add(stage_of("", hook::before_answer)))
             == "invalid_argument: the stage has no name");
  BOOST_TEST(error_of(sut.add(nullptr))
             == "invalid_argument: the stage is null");
  BOOST_TEST(error_of(sut.add(stage_of("x", hook::before_answer), "nobody"))
             == "invalid_argument: stage 'x' must follow 'nobody', which was "
                "not found");
  BOOST_TEST(sut.size() == 3u);
}

BOOST_AUTO_TEST_CASE(one_stage_of_each_leg_runs_its_steps) {
  auto sut = standard_list();
  const std::string refused = "exactly one stage of each leg runs its steps";
  BOOST_TEST(error_of(sut.add(
               stage_of("again", hook::each_leg, {}, place::batch), "denoise"))
             == "invalid_argument: stage 'again': " + refused);
  BOOST_TEST(error_of(sut.add(
               stage_of("sharpen", hook::before_answer, {}, place::batch)))
             == "invalid_argument: stage 'sharpen': " + refused);
}

BOOST_AUTO_TEST_CASE(stages_on_the_devices_belong_to_legs_or_to_the_answer) {
  auto sut = standard_list();
  const std::string refused = "stages on the devices are those of each leg and "
                              "those before the answer";
  BOOST_TEST(
    error_of(sut.add(stage_of("look", hook::before_route, {}, place::device)))
    == "invalid_argument: stage 'look' cannot be after 'prepare': the order is "
       "stages before the route, of each leg, before the answer, and after the "
       "answer");
  pipeline first;
  BOOST_TEST(
    error_of(first.add(stage_of("look", hook::before_route, {}, place::device)))
    == "invalid_argument: stage 'look': " + refused);
  BOOST_TEST(
    error_of(sut.add(stage_of("learn", hook::after_answer, {}, place::device)))
    == "invalid_argument: stage 'learn': " + refused);
  // They do not count as the stage of the steps.
  const auto denoise = sut.denoise();
  BOOST_TEST(error_of(sut.add(
               stage_of("lines", hook::each_leg, {}, place::device), "prepare"))
             == "");
  BOOST_TEST(sut.denoise() == denoise + 1);
  BOOST_TEST(
    error_of(sut.add(
      stage_of("upscale", hook::before_answer, {}, place::device), "denoise"))
    == "");
  BOOST_TEST(sut.denoise() == denoise + 1);
}

BOOST_AUTO_TEST_CASE(the_stage_on_the_devices_is_known_wherever_others_come) {
  pipeline sut;
  BOOST_TEST(sut.denoise() == 0u);
  BOOST_TEST_REQUIRE(error_of(sut.add(stage_of("classify", hook::before_route)))
                     == "");
  BOOST_TEST(sut.denoise() == 1u);
  BOOST_TEST_REQUIRE(error_of(sut.add(stage_of("prepare", hook::each_leg)))
                     == "");
  BOOST_TEST(sut.denoise() == sut.size());
  BOOST_TEST_REQUIRE(error_of(sut.add(actors::denoise_stage())) == "");
  BOOST_TEST(sut.denoise() == 2u);
  BOOST_TEST_REQUIRE(error_of(sut.add(stage_of("finish", hook::before_answer)))
                     == "");
  BOOST_TEST(sut.denoise() == 2u);
  BOOST_TEST_REQUIRE(
    error_of(sut.add(stage_of("mask", hook::before_route), "classify")) == "");
  BOOST_TEST(sut.denoise() == 3u);
  BOOST_TEST_REQUIRE(
    error_of(sut.add(stage_of("judge", hook::each_leg), "denoise")) == "");
  BOOST_TEST(sut.denoise() == 3u);
  BOOST_TEST(sut.at(sut.denoise()).row().name == "denoise");
}

BOOST_AUTO_TEST_CASE(the_signature_tells_names_versions_and_order) {
  BOOST_TEST(pipeline{}.signature() == "");
  auto sut = standard_list();
  BOOST_TEST(sut.signature() == "prepare/1 denoise/1 finish/1");
  stage_row row;
  row.name = "upscale";
  row.version = 7;
  BOOST_TEST_REQUIRE(
    error_of(sut.add(make_stage(idle_stage{row, {}}), "denoise")) == "");
  BOOST_TEST(sut.signature() == "prepare/1 denoise/1 upscale/7 finish/1");
}

BOOST_AUTO_TEST_CASE(a_process_numbers_stages_as_it_is_told) {
  const auto kept = [](const char* name, hook at) {
    stage_row row;
    row.name = name;
    row.hook = at;
    row.place = place::background;
    return make_stage(idle_stage{row, {}});
  };
  auto engine = standard_list();
  BOOST_TEST_REQUIRE(
    error_of(engine.add(kept("fetch", hook::each_leg), "prepare")) == "");
  BOOST_TEST_REQUIRE(error_of(engine.add(kept("remember", hook::after_answer)))
                     == "");
  BOOST_TEST(engine.signature()
             == "prepare/1 fetch/1@control denoise/1 finish/1 "
                "remember/1@control");
  // The list contains a known background stage, and an unknown one.
  auto here = standard_list();
  BOOST_TEST_REQUIRE(error_of(here.add(kept("remember", hook::after_answer)))
                     == "");
  BOOST_TEST_REQUIRE(error_of(here.add(kept("other", hook::after_answer)))
                     == "");
  const auto sut = here.numbered_as(engine.signature());
  BOOST_TEST_REQUIRE(sut.operator bool());
  BOOST_TEST(sut->signature() == engine.signature());
  BOOST_TEST(sut->denoise() == engine.denoise());
  for (size_t i = 0; i < engine.size(); ++i)
    BOOST_TEST(sut->at(i).row().name == engine.at(i).row().name);
  BOOST_TEST(&sut->at(3) == &here.at(2));
}

BOOST_AUTO_TEST_CASE(stages_that_differ_are_told_with_both_lists) {
  const auto here = standard_list();
  for (const auto* other :
       {"", "prepare/1 denoise/1", "prepare/1 denoise/1 finish/2",
        "prepare/1 finish/1 denoise/1", "prepare/1 denoise/1 finish/1 more/1",
        "prepare/1 denoise/1 upscale/1 finish/1"}) {
    const auto got = here.numbered_as(other);
    BOOST_TEST_REQUIRE(!got.operator bool(), other);
    BOOST_TEST((got.why().code == ec::incompatible));
    BOOST_TEST(got.why().text
               == "this process runs the stages 'prepare/1 denoise/1 "
                  "finish/1', but the engine '"
                    + std::string{other} + "'");
  }
}

// -- slots --------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(reserves_of_the_standard_rows_are_the_constants_of_old) {
  const auto sut = standard_list();
  core::philox random{test::seed(), core::purpose::test};
  for (size_t round = 0; round < test::scaled(50'000); ++round) {
    const auto along = random_route(random);
    const auto legs = along.legs.size();
    for (const bool brings_image : {false, true}) {
      for (size_t leg = 0; leg < legs; ++leg)
        for (int stage : {0, 1})
          BOOST_TEST(
            (sut.reserve(along, {leg, static_cast<size_t>(stage)}, brings_image)
             == left_for_next(along, leg, stage, brings_image)));
      BOOST_TEST((sut.reserve(along, {legs, 2}, brings_image)
                  == left_for_next(along, legs, 2, brings_image)));
      BOOST_TEST((sut.least(along, brings_image)
                  == counts(state_slots_of_leg,
                            image_slots_from(along, 0, 0, brings_image))));
    }
  }
}

BOOST_AUTO_TEST_CASE(states_are_left_for_the_leg_and_for_later_ones) {
  const auto along =
    route_of("three", {leg_from(origin::latent), leg_from(origin::noise),
                       leg_from(origin::noise)});
  auto sut = standard_list();
  const auto later = [](const leg* in, bool) {
    return in != nullptr && in->from == origin::noise;
  };
  BOOST_TEST_REQUIRE(
    error_of(sut.add(stage_of("vary", hook::each_leg,
                              {{held::state, planning::access::writes, later},
                               {held::state, planning::access::writes, later},
                               {held::pixels, planning::access::reads}}),
                     "prepare"))
    == "");
  const auto states = [&](size_t leg, size_t stage) {
    return sut.reserve(along, {leg, stage}, false)[0];
  };
  // Later legs need four slots: three that they write, and one to replace one.
  BOOST_TEST(states(0, 0) == 3u);
  BOOST_TEST(states(0, 2) == 2u);
  BOOST_TEST(states(1, 0) == 3u);
  BOOST_TEST(states(1, 1) == 1u);
  BOOST_TEST(states(1, 2) == 0u);
  BOOST_TEST(states(2, 1) == 1u);
  BOOST_TEST(states(3, 3) == 0u);
  BOOST_TEST(sut.least(along, false)[0] == 4u);
}

BOOST_AUTO_TEST_CASE(a_stage_is_granted_what_its_row_writes_in_that_leg) {
  const auto sut = standard_list();
  const auto along = route_of(
    "two", {leg_from(origin::noise), leg_from(origin::stage_image, 4)});
  BOOST_TEST((sut.granted(along, {0, 0}, false) == counts(1, 0)));
  BOOST_TEST((sut.granted(along, {0, 0}, true) == counts(1, 1)));
  BOOST_TEST((sut.granted(along, {0, 1}, true) == counts(1, 1)));
  BOOST_TEST((sut.granted(along, {1, 0}, false) == counts(1, 1)));
  BOOST_TEST((sut.granted(along, {2, 2}, false) == counts(0, 1)));
}

BOOST_AUTO_TEST_CASE(no_stage_waits_for_captures) {
  const auto sut = capturing_list();
  const auto along = route_of("kept", {leg_from(origin::noise, 0, {5, 10})});
  BOOST_TEST((sut.granted(along, {0, 1}, false) == counts(1, 1)));
  BOOST_TEST((sut.reserve(along, {0, 0}, false) == counts(1, 2)));
  BOOST_TEST((sut.least(along, false) == counts(2, 2)));
}

// The image of the leg before stays, so the stage frees no slot.
BOOST_AUTO_TEST_CASE(what_a_later_leg_starts_from_is_left_a_slot_of_its_own) {
  const auto along = route_of(
    "two", {leg_from(origin::noise), leg_from(origin::stage_image, 4)});
  const auto without = standard_list();
  auto sut = standard_list();
  const auto later = [](const leg* in, bool) {
    return in != nullptr && in->from == origin::stage_image;
  };
  BOOST_TEST_REQUIRE(
    error_of(
      sut.add(stage_of("smooth", hook::each_leg,
                       {{held::pixels, planning::access::replaces, later}}),
              "prepare"))
    == "");
  constexpr size_t images = 1;
  const auto more = [&](size_t leg, size_t stage, size_t now) {
    return sut.reserve(along, {leg, now}, false)[images]
         - without.reserve(along, {leg, stage}, false)[images];
  };
  BOOST_TEST(more(0, 0, 0) == 1u);
  BOOST_TEST(more(0, 1, 2) == 1u);
  BOOST_TEST(more(1, 0, 0) == 1u);
  // The stage leaves as many as preparing left without it, and frees none.
  BOOST_TEST(more(1, 0, 1) == 0u);
  BOOST_TEST(more(1, 1, 2) == 0u);
  BOOST_TEST(sut.least(along, false)[images]
             == without.least(along, false)[images] + 1);
  const slot_use replaced{held::pixels, planning::access::replaces};
  BOOST_TEST((sut.counted(replaced, {1, 1}).name == held::source));
  BOOST_TEST((sut.counted(replaced, {1, 1}).mode == planning::access::writes));
  // The first leg has no image before; what stands behind the steps replaces
  // the newest one.
  for (const pipeline::position at : {pipeline::position{0, 1}, {1, 2}, {2, 3}})
    BOOST_TEST((sut.counted(replaced, at).mode == planning::access::replaces));
}

BOOST_AUTO_TEST_CASE(a_stage_that_is_added_is_left_what_it_writes) {
  const auto along = route_of("one", {leg_from(origin::noise)});
  auto writes = standard_list();
  BOOST_TEST_REQUIRE(
    error_of(writes.add(upscale_stage(planning::access::writes), "denoise"))
    == "");
  BOOST_TEST((writes.reserve(along, {0, 1}, false) == counts(0, 2)));
  BOOST_TEST((writes.reserve(along, {1, 2}, false) == counts(0, 1)));
  BOOST_TEST((writes.least(along, false) == counts(2, 3)));
  // A stage needs one more slot to replace one, and frees it afterwards.
  auto replaces = standard_list();
  BOOST_TEST_REQUIRE(
    error_of(replaces.add(upscale_stage(planning::access::replaces), "denoise"))
    == "");
  BOOST_TEST((replaces.reserve(along, {0, 1}, false) == counts(0, 2)));
  BOOST_TEST((replaces.reserve(along, {1, 2}, false) == counts(0, 0)));
  auto reads = standard_list();
  BOOST_TEST_REQUIRE(
    error_of(reads.add(upscale_stage(planning::access::reads), "denoise"))
    == "");
  BOOST_TEST((reads.reserve(along, {0, 1}, false) == counts(0, 1)));
}

BOOST_AUTO_TEST_CASE(a_stage_that_reads_files_is_left_a_slot_for_them) {
  const auto along = route_of("one", {leg_from(origin::noise)});
  auto sut = standard_list();
  const auto brought = [](const leg*, bool brings_image) {
    return brings_image;
  };
  BOOST_TEST_REQUIRE(error_of(sut.add(stage_of(
                       "compare", hook::before_answer,
                       {{held::files, planning::access::reads, brought}})))
                     == "");
  BOOST_TEST((sut.reserve(along, {1, 2}, false) == counts(0, 0)));
  BOOST_TEST((sut.reserve(along, {1, 2}, true) == counts(0, 1)));
  BOOST_TEST((sut.reserve(along, {1, 3}, true) == counts(0, 1)));
  BOOST_TEST((sut.reserve(along, {0, 1}, true) == counts(0, 2)));
  BOOST_TEST((sut.least(along, true) == counts(2, 4)));
}

BOOST_AUTO_TEST_CASE(a_route_without_legs_needs_the_answers_slots_alone) {
  const auto sut = standard_list();
  const auto along = route_of("found", {});
  BOOST_TEST((sut.granted(along, {0, 2}, false) == counts(0, 1)));
  BOOST_TEST((sut.reserve(along, {0, 2}, false) == counts(0, 0)));
  BOOST_TEST((sut.least(along, false) == counts(0, 1)));
  BOOST_TEST((sut.least(along, true) == counts(0, 1)));
  // The found image takes one slot, and leaves one.
  BOOST_TEST((fetching_list().least(along, false) == counts(0, 2)));
  auto replaces = fetching_list();
  BOOST_TEST_REQUIRE(
    error_of(replaces.add(upscale_stage(planning::access::replaces), "denoise"))
    == "");
  BOOST_TEST((replaces.reserve(along, {0, 0}, false) == counts(0, 2)));
  BOOST_TEST((replaces.least(along, false) == counts(0, 3)));
}

BOOST_AUTO_TEST_SUITE_END()
