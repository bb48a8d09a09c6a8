// SPDX-License-Identifier: Apache-2.0

// How batches form by a plan, and the facts that policies request before they
// choose.

#include "actors/scheduler_plan_rig.hpp"
#include <atelier/config/load.hpp>

#include <cmath>
#include <limits>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using planning::joining;
using test::fast;
using test::slow;

planning::need wants_near() {
  planning::need n;
  n.near = true;
  return n;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(scheduler_plan, test::plan_rig)

BOOST_AUTO_TEST_CASE(whole_batches_go_to_idle_workers_and_are_not_filled_up) {
  rig->add_device(life(2), 8, 8);
  publish({slow, fast}, 2, joining::whole_batch);
  BOOST_TEST((rig->take<actors::adopt>().join == joining::whole_batch));
  for (int i = 0; i < 4; ++i)
    rig->submit();
  prepare_all();
  // The first row ran by itself; the others wait.
  const auto first = rig->take<actors::denoise>();
  BOOST_TEST(rig->count<actors::denoise>() == 0u);
  rig->done(first);
  const auto second = rig->take<actors::denoise>();
  const auto third = rig->take<actors::denoise>();
  BOOST_TEST(rig->count<actors::denoise>() == 0u);
  // The worker starts with the last row.
  BOOST_TEST(!first.more);
  BOOST_TEST(second.more);
  BOOST_TEST(!third.more);
  rig->done(second);
  BOOST_TEST(rig->count<actors::denoise>() == 0u);
  rig->done(third);
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(policies_see_a_devices_kind_and_people_its_name) {
  for (uint32_t i = 0; i < 2; ++i) {
    actors::worker_ready x;
    x.worker = test::scheduler_rig::device_at(life(2 + i));
    x.device = "cpu:" + std::to_string(i);
    rig->on(x);
    BOOST_TEST(rig->sut->cluster().workers.at(i).device_kind == "cpu");
    BOOST_TEST(rig->sut->status().workers.at(i).device == x.device);
  }
}

BOOST_AUTO_TEST_CASE(a_dead_workers_own_queue_is_placed_anew) {
  rig->add_device(life(2), 1, 1);
  policy->own_queues = true;
  rig->submit();
  const auto id = rig->submit();
  prepare_all();
  BOOST_TEST(rig->count<actors::denoise>() == 1u);
  BOOST_TEST(rig->sut->cluster().workers[0].waiting == 1u);
  policy->own_queues = false;
  rig->add_device(life(3), 4, 4);
  // Orders to the dead worker are never done.
  rig->sent.clear();
  rig->lose(life(2));
  BOOST_TEST(rig->work_off());
  BOOST_TEST((rig->failure_of(id) == core::ec::none));
}

BOOST_AUTO_TEST_CASE(a_policy_gets_the_facts_that_it_asks_for) {
  policy->choosing = [](const planning::facts& known) -> planning::choice {
    if (!known.near)
      return wants_near();
    return planning::go{core::route_id{known.near->empty() ? 0u : 1u}};
  };
  rig->add_device(life(2));
  const auto id = rig->submit();
  BOOST_REQUIRE(questions().size() == 1u);
  BOOST_TEST((questions()[0].who.id == id));
  BOOST_TEST(questions()[0].what.near);
  BOOST_TEST(!questions()[0].what.tolerated);
  BOOST_TEST(rig->count<test::prepare>() == 0u);
  // It waited for 50 ms, of which the search itself took 30.
  rig->now += 50ms;
  find({planning::match{7, 0.9, {2}, 0}}, 30ms);
  BOOST_TEST((rig->take<test::prepare>().how.variant == fast));
  const auto& counts = rig->sut->counts();
  BOOST_TEST(counts.searched == 1u);
  BOOST_REQUIRE(counts.retrievals.size() == 1u);
  BOOST_TEST(std::abs(counts.retrievals[0].seconds - 0.03) < 1e-9);
  BOOST_TEST(!counts.retrievals[0].failed);
  // No request waits for it any longer, so the answer is ignored.
  find({planning::match{7, 0.9, {2}, 0}});
}

BOOST_AUTO_TEST_CASE(facts_that_are_late_are_done_without) {
  policy->choosing = [](const planning::facts& known) -> planning::choice {
    if (!known.near)
      return wants_near();
    return planning::go{core::route_id{known.near->empty() ? 0u : 1u}};
  };
  rig->add_device(life(2));
  rig->submit();
  rig->tick(999ms);
  BOOST_TEST(rig->count<test::prepare>() == 0u);
  rig->tick(1ms);
  BOOST_TEST((rig->take<test::prepare>().how.variant == slow));
  BOOST_TEST(rig->sut->counts().facts_late == 1u);
  BOOST_TEST(rig->sut->counts().retrievals.at(0).failed);
}

BOOST_AUTO_TEST_CASE(a_late_answer_ends_no_later_question) {
  policy->choosing = [](const planning::facts& known) -> planning::choice {
    if (!known.tolerated) {
      planning::need n;
      n.tolerated = true;
      return n;
    }
    if (!known.near)
      return wants_near();
    return planning::go{core::route_id{known.near->empty() ? 0u : 1u}};
  };
  rig->add_device(life(2));
  rig->submit();
  rig->tick(1s);
  BOOST_REQUIRE(questions().size() == 2u);
  BOOST_TEST(questions()[1].what.near);
  planning::facts late;
  late.tolerated.emplace(1, 3u);
  answer(questions()[0], late);
  BOOST_TEST(rig->count<test::prepare>() == 0u);
  const auto& counts = rig->sut->counts();
  BOOST_TEST(counts.retrievals.empty());
  BOOST_TEST(counts.stale_replies == 1u);
  find({planning::match{7, 0.9, {2}, 0}});
  BOOST_TEST((rig->take<test::prepare>().how.variant == fast));
  BOOST_TEST(!counts.retrievals.at(0).failed);
}

BOOST_AUTO_TEST_CASE(a_match_predictor_that_is_late_or_fails_says_yes) {
  std::vector<bool> told;
  policy->choosing = [&](const planning::facts& known) -> planning::choice {
    if (!known.hit_likely) {
      planning::need n;
      n.hit_likely = true;
      return n;
    }
    told.push_back(*known.hit_likely);
    return planning::go{core::route_id{0}};
  };
  rig->submit();
  rig->tick(1s);
  rig->submit();
  answer(questions().back(), {},
         core::fail(core::ec::unavailable, "nobody predicts"));
  BOOST_TEST(told == (std::vector<bool>{true, true}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_question_takes_a_share_of_the_time_that_is_left) {
  policy->choosing = [](const planning::facts& known) -> planning::choice {
    if (!known.near)
      return wants_near();
    return planning::go{core::route_id{0}};
  };
  rig->add_device(life(2));
  rig->submit([&](core::request& x) { x.deadline = rig->now + 2s; });
  rig->tick(399ms);
  BOOST_TEST(rig->count<test::prepare>() == 0u);
  rig->tick(1ms);
  BOOST_TEST(rig->count<test::prepare>() == 1u);
}

BOOST_AUTO_TEST_CASE(how_long_questions_may_take_is_configured) {
  const std::vector<std::string> lines{"scheduler.facts_ms=100",
                                       "scheduler.facts_share=0.5"};
  const auto set = config::load({}, lines);
  BOOST_TEST_REQUIRE(static_cast<bool>(set));
  test::plan_rig own{16, set.values.scheduler};
  own.policy->choosing = [](const planning::facts& known) -> planning::choice {
    if (!known.near)
      return wants_near();
    return planning::go{core::route_id{0}};
  };
  own.rig->add_device(life(2));
  const auto goes_on_after = [&](core::timespan budget) {
    own.rig->tick(budget - 1ms);
    BOOST_TEST(own.rig->count<test::prepare>() == 0u);
    own.rig->tick(1ms);
    BOOST_TEST(own.rig->count<test::prepare>() == 1u);
    BOOST_TEST(own.rig->work_off());
  };
  own.rig->submit();
  goes_on_after(100ms);
  own.rig->submit([&](core::request& x) { x.deadline = own.rig->now + 150ms; });
  goes_on_after(75ms);
}

BOOST_AUTO_TEST_CASE(requests_that_ask_can_be_cancelled_and_can_be_late) {
  policy->choosing = [](const planning::facts&) -> planning::choice {
    return wants_near();
  };
  const auto gone = rig->submit();
  rig->cancel(gone);
  BOOST_TEST((rig->failure_of(gone) == core::ec::cancelled));
  const auto late =
    rig->submit([&](core::request& x) { x.deadline = rig->now + 10ms; });
  rig->tick(20ms);
  BOOST_TEST((rig->failure_of(late) == core::ec::deadline_missed));
  rig->submit();
  rig->stop();
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(a_policy_that_asks_without_end_is_refused) {
  policy->choosing = [](const planning::facts&) -> planning::choice {
    return wants_near();
  };
  const auto id = rig->submit();
  for (int i = 0; i < 10 && !rig->answered(id); ++i)
    rig->tick(1s);
  BOOST_TEST((rig->failure_of(id) == core::ec::internal));
  BOOST_TEST(rig->sut->counts().refused == 1u);
  BOOST_TEST(rig->quiet());
}

BOOST_AUTO_TEST_CASE(a_score_below_the_threshold_leads_to_the_next_stage) {
  adjust = [](planning::plan& p) {
    planning::route r;
    r.name = "cascade";
    planning::leg light;
    light.any_of = {fast};
    light.check = planning::gate{"judge", 0};
    planning::leg heavy;
    heavy.any_of = {slow};
    r.legs = {light, heavy};
    p.routes = {r};
    p.thresholds = {0.5};
  };
  policy->choosing = [](const planning::facts&) -> planning::choice {
    return planning::go{core::route_id{0}};
  };
  rig->add_device(life(2));
  publish({slow, fast}, 4, joining::step);
  const auto judged = [&](double score) {
    rig->submit();
    prepare_all();
    const auto d = rig->take<actors::denoise>();
    BOOST_TEST(d.judge == "judge");
    BOOST_REQUIRE(rig->store->publish(d.image, 1, 0));
    actors::denoised r;
    r.ticket = d.ticket;
    r.score = score;
    rig->on(r);
  };
  judged(0.5);
  BOOST_TEST(rig->count<test::finish>() == 1u);
  judged(0.499);
  BOOST_TEST(rig->count<test::finish>() == 1u);
  prepare_all();
  const auto heavy = rig->take<actors::denoise>();
  BOOST_TEST((heavy.recipe.variant == slow));
  BOOST_TEST(heavy.judge.empty());
  // NaN counts as the worst score.
  judged(std::numeric_limits<double>::quiet_NaN());
  BOOST_TEST(rig->count<test::finish>() == 1u);
  const auto& bins = rig->sut->counts().confidences;
  BOOST_REQUIRE(bins.size() == 201u);
  BOOST_TEST(bins[0] == 1u);
  BOOST_TEST(bins[99] == 1u);
  BOOST_TEST(bins[100] == 1u);
}

BOOST_AUTO_TEST_CASE(what_the_plan_does_not_admit_is_refused_with_a_time) {
  adjust = [](planning::plan& p) { p.admitted_rates = {1}; };
  publish({slow, fast}, 4, joining::step);
  const auto of = [&](core::priority prio) {
    return rig->submit([&](core::request& x) { x.prio = prio; });
  };
  // Ten are admitted at once; low priorities may use half of them.
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(!rig->answered(of(core::priority::low)));
  const auto refused = of(core::priority::low);
  BOOST_TEST((rig->failure_of(refused) == core::ec::overloaded));
  BOOST_TEST((rig->answer_to(refused).retry_after == 1s));
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(!rig->answered(of(core::priority::high)));
  BOOST_TEST(
    (rig->failure_of(of(core::priority::high)) == core::ec::overloaded));
  const auto normal = of(core::priority::normal);
  BOOST_TEST((rig->answer_to(normal).retry_after == 3500ms));
  rig->tick(3500ms);
  BOOST_TEST(!rig->answered(of(core::priority::normal)));
  // No request is refused because of a guess.
  rig->profile->variants[0].guessed = true;
  for (int i = 0; i < 50; ++i)
    BOOST_TEST(!rig->answered(of(core::priority::low)));
}

BOOST_AUTO_TEST_CASE(what_its_judge_fails_at_is_counted_and_drawn_again) {
  adjust = [](planning::plan& p) {
    p.routes[0].legs = {planning::leg{}, planning::leg{}};
    p.routes[0].legs[0].any_of = {fast};
    p.routes[0].legs[0].check = planning::gate{"judge", 0};
    p.routes[0].legs[1].any_of = {slow};
    // Every judged image passes.
    p.thresholds = {0};
  };
  policy->choosing = [](const planning::facts&) -> planning::choice {
    return planning::go{core::route_id{0}};
  };
  rig->add_device(life(2));
  publish({slow, fast}, 4, joining::step);
  for (const double score :
       {planning::unjudged, std::numeric_limits<double>::quiet_NaN()}) {
    rig->submit();
    prepare_all();
    const auto d = rig->take<actors::denoise>();
    BOOST_REQUIRE(rig->store->publish(d.image, 1, 0));
    actors::denoised r;
    r.ticket = d.ticket;
    r.score = score;
    rig->on(r);
    prepare_all();
    BOOST_TEST((rig->take<actors::denoise>().recipe.variant == slow));
  }
  BOOST_TEST(rig->sut->counts().judge_failures == 2u);
}

// What was prepared has the shape of the first variant's latent.
BOOST_AUTO_TEST_CASE(a_row_is_prepared_again_for_a_variant_of_another_latent) {
  for (const bool differs : {false, true}) {
    test::plan_rig one;
    auto& scheduler = one.rig;
    if (differs)
      scheduler->profile->variants[slow.value].latent_channels = 16;
    one.adjust = [](planning::plan& p) {
      p.routes[0].legs[0].any_of = {fast, slow};
      for (auto& w : p.workers)
        w.also_serves = {planning::queue_of(fast)};
    };
    one.policy->choosing = [](const planning::facts&) -> planning::choice {
      return planning::go{core::route_id{0}, {}};
    };
    scheduler->add_device(life(2));
    one.publish({slow}, 4, joining::step);
    one.adopted(scheduler->take<actors::adopt>());
    const auto id = scheduler->submit();
    BOOST_TEST(scheduler->count<test::prepare>() == 1u);
    const auto first = scheduler->take<test::prepare>();
    BOOST_TEST((first.how.variant == fast));
    scheduler->done(first);
    BOOST_TEST(scheduler->count<test::prepare>() == (differs ? 1u : 0u));
    if (differs) {
      const auto again = scheduler->take<test::prepare>();
      BOOST_TEST((again.how.variant == slow));
      BOOST_TEST(again.latent.channels == 16u);
      scheduler->done(again);
    }
    const auto run = scheduler->take<actors::denoise>();
    BOOST_TEST((run.recipe.variant == slow));
    scheduler->done(run);
    BOOST_TEST(scheduler->work_off());
    BOOST_TEST((scheduler->failure_of(id) == core::ec::none));
    BOOST_TEST(scheduler->quiet());
  }
}

BOOST_AUTO_TEST_CASE(a_run_from_a_latent_begins_at_what_is_stored) {
  adjust = [](planning::plan& p) {
    p.routes[0].legs[0].from = planning::origin::latent;
    p.routes[0].legs[0].skip = 3;
  };
  policy->choosing = [](const planning::facts& known) -> planning::choice {
    if (!known.near)
      return wants_near();
    return planning::go{core::route_id{0}, 0};
  };
  rig->add_device(life(2));
  publish({slow, fast}, 4, joining::step);
  rig->submit();
  const planning::match near{7, 0.9, {1, 2, 4}, 0};
  find({near});
  prepare_all();
  const auto begun = rig->take<actors::denoise>();
  // The start skips as many steps as are stored and may be skipped.
  BOOST_TEST(begun.steps_done == 2u);
  BOOST_TEST(rig->sut->cluster().workers[0].steps_left == 2u);
  BOOST_TEST(rig->sut->counts().hits == 1u);
  BOOST_TEST((rig->sut->counts().skips
              == std::vector<std::pair<uint32_t, uint64_t>>{{2, 1}}));
  rig->done(begun);
  BOOST_TEST(rig->work_off());
  BOOST_TEST(rig->quiet());
}

// With `argus-paper` the worker's level decides, not the route's skip.
BOOST_AUTO_TEST_CASE(a_hit_by_a_workers_level_counts_what_was_taken) {
  adjust = [](planning::plan& p) {
    p.routes[0].legs[0].from = planning::origin::latent;
    p.routes[0].legs[0].skip = 3;
    p.routes[0].legs[0].level_of_worker = true;
  };
  policy->choosing = [](const planning::facts& known) -> planning::choice {
    if (!known.near)
      return wants_near();
    return planning::go{core::route_id{0}, 0};
  };
  rig->add_device(life(2));
  const auto draw_at = [&](uint32_t level) {
    publish({slow, fast}, 4, joining::step, level);
    rig->submit();
    find({planning::match{7, 0.9, {1, 2, 4}, 0}});
    prepare_all();
    const auto begun = rig->take<actors::denoise>();
    BOOST_TEST(begun.steps_done == level);
    rig->done(begun);
    BOOST_TEST(rig->work_off());
  };
  draw_at(0);
  BOOST_TEST(rig->sut->counts().hits == 0u);
  draw_at(1);
  BOOST_TEST(rig->sut->counts().hits == 1u);
  BOOST_TEST((rig->sut->counts().skips
              == std::vector<std::pair<uint32_t, uint64_t>>{{1, 1}}));
}

BOOST_AUTO_TEST_CASE(a_request_of_its_own_size_counts_its_pixels) {
  rig->add_device(life(2));
  rig->submit();
  BOOST_TEST(rig->sut->counts().extra_pixels.empty());
  rig->submit([&](core::request& x) {
    const auto own = rig->profile->variants[slow.value].native_px;
    x.px = {2 * own.width, 2 * own.height};
  });
  const auto& counted = rig->sut->counts().extra_pixels;
  BOOST_REQUIRE(counted.size() == rig->profile->variants.size());
  BOOST_TEST(counted[slow.value] == 3);
}

BOOST_AUTO_TEST_SUITE_END()
