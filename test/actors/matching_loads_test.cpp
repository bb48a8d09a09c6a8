// SPDX-License-Identifier: Apache-2.0
#include "actors/matching_rig.hpp"
#include "support/told_stage.hpp"

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::role;
using planning::origin;
using test::four_steps;
using test::matching_rig;
using test::other_model;
using test::two_steps;

struct rig : matching_rig {
  using matching_rig::matching_rig;

  const actors::matching& sut = of.matching;

  // A device that hosts all variants but the first, and could not load that.
  actors::worker& cannot_load(uint32_t process) {
    auto& w = device(process, [](actors::worker_ready& x) {
      x.variants = {"card@2", "other"};
    });
    fail_to_load(w, four_steps);
    return w;
  }

  static planning::leg leg_of(std::vector<core::variant_id> variants,
                              origin from = origin::noise) {
    planning::leg x;
    x.any_of = std::move(variants);
    x.from = from;
    return x;
  }

  bool is_unloadable() const {
    return sut.unloadable(leg_of({four_steps})).has_value();
  }
};

matching_rig::options with_long_stage() {
  actors::standard_stages own;
  const auto stage = [](std::string_view name, core::timespan takes) {
    test::told_stage::script says;
    says.takes = takes;
    return test::told(name, planning::hook::each_leg, planning::if_failed::fail,
                      {}, says);
  };
  own.fetch = stage("long", 7s);
  matching_rig::options o;
  o.stages = test::pipeline_with(own, {{stage("short", 0s), "long"}});
  return o;
}

struct long_stage_rig : rig {
  long_stage_rig() : rig(with_long_stage()) {}
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(matching_loads_test, rig)

// -- silence ------------------------------------------------------------------

BOOST_FIXTURE_TEST_CASE(silence_of_a_stage_is_at_least_its_time,
                        long_stage_rig) {
  const auto& w = pool(role::preprocess);
  auto& r = accept();
  route(r);
  r.course.set_order(core::typed_body::of(test::told_stage::work{}));
  enter(r, "long");
  BOOST_TEST((sut.silence_of(r, w) == 7s));
  // The whole preparation is predicted to take a millisecond.
  enter(r, "short");
  BOOST_TEST((sut.silence_of(r, w) == 1ms));
}

BOOST_AUTO_TEST_CASE(silence_of_a_drawing_is_that_of_its_run_of_steps) {
  const auto silence = [&](uint32_t process, uint32_t run_steps) {
    const auto& w = device(process, [&](actors::worker_ready& x) {
      x.max_batch = 1;
      x.run_steps = run_steps;
    });
    auto& r = accept();
    route(r);
    prepare(r);
    return sut.silence_of(r, w);
  };
  // The text and the decoding take 7 ms.
  BOOST_TEST((silence(2, 1) == 17ms));
  BOOST_TEST((silence(3, 3) == 37ms));
}

// -- runs of steps ------------------------------------------------------------

BOOST_AUTO_TEST_CASE(run_is_that_of_the_rows_reported_last) {
  auto& w = device_of(2, "quick", 8, 8);
  const auto large = [](core::request& x) { x.px = {64, 64}; };
  const auto two = core::route_id{two_steps.value};
  const auto first = run(waits_to_draw([](core::request&) {}, two), w);
  const auto decoding = run(waits_to_draw(large), w);
  const auto other = draws_at(w, {}, core::route_id{other_model.value});
  const auto last = draws_at(w);
  w.batch.report({decoding, first, decoding, other, last});
  actors::stepped x;
  x.batch = 2;
  x.steps = 3;
  x.took = 30ms;
  const auto found = sut.run_of(w, x);
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST(
    (found->variants == std::vector<core::variant_id>{four_steps, two_steps}));
  BOOST_TEST((found->weights == four_steps));
  BOOST_TEST((found->px == core::extent{32, 32}));
  BOOST_TEST(found->batch == 2u);
  BOOST_TEST(found->steps == 3u);
  BOOST_TEST((found->took == 30ms));
  BOOST_TEST(found->rows == 2.0);
  BOOST_TEST(found->whole);
  BOOST_TEST(!found->slow);
  BOOST_TEST((found->worker.worker == w.id()));
  of.workers.set_slow(w, true);
  x.batch = 1;
  BOOST_TEST(sut.run_of(w, x)->slow);
  BOOST_TEST(sut.run_of(w, x)->variants.size() == 1u);
}

BOOST_AUTO_TEST_CASE(unknown_rows_of_a_run_count_as_the_known_ones) {
  auto& w = device_of(2, "quick", 8, 8);
  const core::ticket gone{core::request_id{99}, 1};
  w.batch.report({draws_at(w), gone});
  actors::stepped x;
  x.batch = x.steps = 4;
  BOOST_TEST_REQUIRE(sut.run_of(w, x).has_value());
  BOOST_TEST(sut.run_of(w, x)->variants.size() == 1u);
  BOOST_TEST(sut.run_of(w, x)->rows == 4.0);
  w.batch.report({gone});
  BOOST_TEST(!sut.run_of(w, x).has_value());
}

BOOST_AUTO_TEST_CASE(report_without_a_run_says_nothing) {
  auto& w = device_of(2, "quick");
  w.batch.report({draws_at(w)});
  actors::stepped x;
  x.batch = 1;
  BOOST_TEST(!sut.run_of(w, x).has_value());
  x.batch = 0;
  x.steps = 1;
  BOOST_TEST(!sut.run_of(w, x).has_value());
}

BOOST_AUTO_TEST_CASE(run_with_a_masked_row_is_not_whole) {
  auto& w = device_of(2, "quick");
  auto& edit = accept(&parts_rig::bring_image);
  planning::facts found;
  found.mask.emplace().ratio = 0.5;
  edit.course.learn(std::move(found));
  route(edit);
  BOOST_TEST_REQUIRE(edit.course.take_mask());
  prepare(edit);
  wait(edit);
  const auto masked = run(edit, w);
  w.batch.report({masked, draws_at(w)});
  actors::stepped x;
  x.batch = x.steps = 1;
  BOOST_TEST(!sut.run_of(w, x)->whole);
}

// -- variants that devices could not load -------------------------------------

BOOST_AUTO_TEST_CASE(variant_that_no_device_loads_is_unloadable_with_reason) {
  cannot_load(2);
  const auto why = sut.unloadable(leg_of({four_steps}));
  BOOST_TEST_REQUIRE(why.has_value());
  BOOST_TEST((why->code == core::ec::unavailable));
  BOOST_TEST(why->text.find("card@4") == 0u);
  BOOST_TEST(why->text.find("no such file") != std::string::npos);
  BOOST_TEST(!sut.unloadable(leg_of({two_steps})).has_value());
  // Its next attempt is due.
  of.hosting.retries(now + 1s);
  BOOST_TEST(!is_unloadable());
}

BOOST_AUTO_TEST_CASE(variant_is_loadable_while_another_device_may_host_it) {
  cannot_load(2);
  auto& other =
    device(3, [](actors::worker_ready& x) { x.variants = {"other"}; });
  BOOST_TEST(!is_unloadable());
  of.workers.suspect(other);
  BOOST_TEST(is_unloadable());
  auto& bound = device(
    4, [](actors::worker_ready& x) { x.variants = x.may_host = {"other"}; });
  BOOST_TEST(is_unloadable());
  planning::assignment serves;
  serves.also_serves = {queue(four_steps)};
  of.hosting.apply(bound, serves, {}, now);
  BOOST_TEST(!is_unloadable());
}

BOOST_AUTO_TEST_CASE(variant_is_loadable_while_a_device_hosts_or_loads_it) {
  profile->variants[0].load = 1s;
  cannot_load(2);
  auto& loads = device(
    3, [](actors::worker_ready& x) { x.variants = x.may_host = {"other"}; });
  BOOST_TEST(is_unloadable());
  planning::assignment next;
  next.hosting = {four_steps};
  of.hosting.apply(loads, next, {}, now);
  BOOST_TEST(!is_unloadable());
  of.workers.suspect(loads);
  BOOST_TEST(is_unloadable());
  device(4, [](actors::worker_ready& x) {
    x.variants = {"card@4"};
    x.may_host = {"other"};
  });
  BOOST_TEST(!is_unloadable());
}

BOOST_AUTO_TEST_CASE(leg_is_unloadable_if_all_its_variants_are) {
  auto& w = cannot_load(2);
  BOOST_TEST(!sut.unloadable(leg_of({four_steps, two_steps})).has_value());
  planning::assignment away;
  away.leaving = {two_steps};
  of.hosting.apply(w, away, {}, now);
  fail_to_load(w, two_steps);
  BOOST_TEST(
    sut.unloadable(leg_of({four_steps, two_steps}))->text.find("card@4") == 0u);
}

BOOST_AUTO_TEST_CASE(route_is_unloadable_if_no_leg_can_begin_it) {
  cannot_load(2);
  planning::route along;
  along.legs = {leg_of({four_steps}), leg_of({two_steps})};
  BOOST_TEST(!sut.unloadable(along).has_value());
  along.legs[1].from = origin::stage_image;
  BOOST_TEST(sut.unloadable(along).has_value());
  along.legs = {leg_of({four_steps}, origin::stage_image)};
  BOOST_TEST(!sut.unloadable(along).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
