// SPDX-License-Identifier: Apache-2.0
#include "actors/scheduler_rig.hpp"
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::denoise;
using core::ec;
using test::prepare;
using test::scheduler_rig;

// A scheduler whose device ran a step of card@4 already, in `took` instead of
// 10 ms.
struct measured : scheduler_rig {
  explicit measured(options o = {}, core::timespan took = 10ms)
    : scheduler_rig(std::move(o)) {
    add_cpu();
    add_device(life(2));
    submit();
    done(take<prepare>());
    const auto d = take<denoise>();
    stepping({d.ticket});
    actors::stepped run;
    run.worker = device_at(life(2));
    run.batch = 1;
    run.steps = 1;
    run.took = took;
    on(run);
    done(d);
    BOOST_REQUIRE(work_off());
  }

  core::request_id with_deadline(core::timespan after) {
    return submit(
      [&](core::request& x) { x.deadline = core::after(now, after); });
  }
};

// Vanilla, which also records the reported time of a step of card@4.
struct noting_policy : planning::vanilla {
  planning::choice choose(const planning::decision_context& by) const override {
    told = by.costs.variants[0].step[0].took;
    return vanilla::choose(by);
  }

  mutable core::timespan told{0};
};

scheduler_rig::options with_queue(core::timespan most) {
  scheduler_rig::options o;
  o.limits.queue = most;
  return o;
}

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_work_test)

BOOST_AUTO_TEST_CASE(predicted_work_is_bounded) {
  measured rig{with_queue(100ms)};
  // Each row takes 2 ms of text and 5 ms of decoding; four rows take four steps
  // of 40 ms.
  std::vector<core::request_id> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(rig.submit());
  for (const auto id : all)
    BOOST_TEST(rig.answered(id) == (id == all[3]));
  const auto& refused = rig.answer_to(all[3]);
  BOOST_TEST((refused.failure.code == ec::overloaded));
  BOOST_TEST(refused.failure.text.find("limits.queue_s") != std::string::npos);
  BOOST_TEST((refused.retry_after == 1s));
  BOOST_REQUIRE(rig.work_off());
  const auto later = rig.submit();
  BOOST_TEST(!rig.answered(later));
}

BOOST_AUTO_TEST_CASE(who_fills_the_queue_shuts_out_no_other_tenant) {
  measured rig{with_queue(100ms)};
  const auto accepts = [&](uint32_t tenant) {
    return !rig.answered(rig.submit(
      [&](core::request& x) { x.tenant = core::tenant_id{tenant}; }));
  };
  // Each row takes 47 ms.
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(accepts(1));
  BOOST_TEST(!accepts(1));
  // The share of the second tenant is 50 ms.
  BOOST_TEST(accepts(2));
  BOOST_TEST(accepts(2));
  BOOST_TEST(!accepts(2));
  // All together are predicted to take more than twice the limit.
  BOOST_TEST(!accepts(3));
  BOOST_REQUIRE(rig.work_off());
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(accepts(3));
  BOOST_TEST(!accepts(3));
}

BOOST_AUTO_TEST_CASE(a_guess_refuses_nobody) {
  scheduler_rig rig{with_queue(1ms)};
  rig.add_cpu();
  rig.add_device(scheduler_rig::life(2));
  for (int i = 0; i < 10; ++i)
    BOOST_TEST(!rig.answered(rig.submit()));
}

BOOST_AUTO_TEST_CASE(a_slow_machine_is_predicted_as_it_is) {
  // The machine is a thousand times slower than the profile: 40 s for each
  // request.
  measured rig{with_queue(60s), 10s};
  BOOST_TEST(!rig.answered(rig.submit()));
  BOOST_TEST(!rig.answered(rig.submit()));
  const auto third = rig.submit();
  BOOST_REQUIRE(rig.answered(third));
  // 2 x 47 s exceed the limit by 34 s.
  const auto wait = rig.answer_to(third).retry_after;
  BOOST_TEST(core::to_seconds(wait) == 34.0,
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(what_steps_take_is_told_once_to_whom_plans) {
  // A step takes five times the profile's 10 ms, and one run is already
  // recorded.
  measured rig{{}, 50ms};
  rig.submit();
  rig.done(rig.take<prepare>());
  const auto d = rig.take<denoise>();
  rig.stepping({d.ticket});
  actors::stepped run;
  run.worker = scheduler_rig::device_at(scheduler_rig::life(2));
  run.batch = 1;
  run.steps = 1;
  run.took = 50ms;
  const auto before = rig.clusters.size();
  for (int i = 0; i < 3; ++i)
    rig.on(run);
  BOOST_TEST(rig.clusters.size() == before);
  for (int i = 0; i < 9; ++i)
    rig.on(run);
  BOOST_TEST_REQUIRE(rig.clusters.size() == before + 1);
  const auto told = rig.clusters.back().costs;
  BOOST_TEST_REQUIRE(told.size() == 1u);
  BOOST_TEST(
    std::count_if(told.front().costs.begin(), told.front().costs.end(),
                  [](const auto& x) { return std::abs(x.pace - 5) < 1e-6; })
    == 1);
  // Later reports contain it, too.
  rig.add_device(scheduler_rig::life(3));
  BOOST_TEST((rig.clusters.back().costs == told));
}

BOOST_AUTO_TEST_CASE(routes_are_chosen_by_what_steps_take) {
  const auto policy = std::make_shared<noting_policy>();
  scheduler_rig::options o;
  o.policy = policy;
  // A step takes five times the profile's 10 ms.
  measured rig{std::move(o), 50ms};
  BOOST_TEST((policy->told == 10ms));
  rig.submit();
  rig.done(rig.take<prepare>());
  const auto d = rig.take<denoise>();
  rig.stepping({d.ticket});
  actors::stepped run;
  run.worker = scheduler_rig::device_at(scheduler_rig::life(2));
  run.batch = 1;
  run.steps = 1;
  run.took = 50ms;
  for (int i = 0; i < 12; ++i)
    rig.on(run);
  rig.submit();
  BOOST_TEST((policy->told == 50ms));
  BOOST_TEST((rig.profile->variants[0].step[0].took == 10ms));
  BOOST_TEST(rig.work_off());
}

BOOST_AUTO_TEST_CASE(of_both_bounds_the_earlier_one_refuses) {
  const auto bounded = [](core::timespan queue) {
    auto rig = std::make_unique<measured>(with_queue(queue));
    auto plan = rig->policy->replan({}, *rig->profile, rig->sut->cluster(), {});
    plan.version = 2;
    // Four are admitted at once, and one of them is reserved for high
    // priorities.
    plan.admitted_rates = {0.4};
    rig->event([&](auto& h) {
      h.publish(std::make_shared<const planning::plan>(plan), rig->now);
    });
    return rig;
  };
  const auto refused_by = [](scheduler_rig& rig, size_t after,
                             const char* what) {
    for (size_t i = 0; i < after; ++i)
      BOOST_TEST(!rig.answered(rig.submit()));
    const auto last = rig.submit();
    BOOST_TEST_REQUIRE(rig.answered(last));
    const auto& why = rig.answer_to(last);
    BOOST_TEST((why.failure.code == ec::overloaded));
    BOOST_TEST(why.failure.text.find(what) != std::string::npos,
               why.failure.text);
    BOOST_TEST((why.retry_after >= 1s));
  };
  // One request takes 47 ms.
  const auto by_work = bounded(30ms);
  refused_by(*by_work, 1, "limits.queue_s");
  BOOST_TEST(by_work->work_off());
  // Requests that the backlog refused used nothing of what the plan admits.
  const auto again = by_work->submit();
  BOOST_TEST(!by_work->answered(again));
  refused_by(*bounded(60s), 3, "than the plan admits");
}

namespace {

// Returns a profile whose devices of the kind "slow" take `times` times as
// long.
std::shared_ptr<planning::profile> with_slow_kind(int64_t times) {
  auto p = test::card_profile();
  planning::kind_profile slow;
  slow.kind = "slow";
  for (const auto& v : p->variants) {
    planning::running_costs own = v;
    for (auto& x : own.step)
      x.took *= times;
    slow.variants.emplace_back(own);
  }
  p->kinds.push_back(slow);
  return p;
}

// A rig with a device of the kind "slow" and one of the kind "quick".
struct two_kinds : scheduler_rig {
  explicit two_kinds(std::shared_ptr<planning::profile> known)
    : scheduler_rig(knowing(std::move(known))) {
    add_cpu();
    add(slow, "slow");
    add(quick, "quick");
  }

  static options knowing(std::shared_ptr<planning::profile> known) {
    options o;
    o.profile = std::move(known);
    return o;
  }

  void add(ipc::process_life where, const std::string& kind) {
    actors::worker_ready x;
    x.worker = device_at(where);
    x.seats = x.max_batch = 1;
    x.device = "cpu:" + std::to_string(where.process.value);
    x.kind = kind;
    x.variants = {"card@4", "card@2"};
    on(x);
  }

  // Submits a request and prepares it, so that it waits for a device.
  void submit_prepared() {
    submit();
    done(take<prepare>());
  }

  // Each of both devices runs a row. Steps take 10 ms on the quick one and
  // `on_slow` on the slow one.
  void run_both(core::timespan on_slow = 50ms) {
    submit_prepared();
    submit_prepared();
    for (int k = 0; k < 2; ++k) {
      const auto work = next<denoise>();
      BOOST_TEST_REQUIRE(work.has_value());
      const auto& [where, d] = *work;
      stepping({d.ticket}, where.process);
      actors::stepped x;
      x.worker = where;
      x.batch = 1;
      x.steps = 1;
      x.took = where.process == slow ? on_slow : 10ms;
      on(x);
      done(d);
    }
    BOOST_REQUIRE(work_off());
  }

  static constexpr auto slow = life(2);
  static constexpr auto quick = life(3);
};

double most_pace(const planning::kind_costs& of) {
  double most = 0;
  for (const auto& c : of.costs)
    most = std::max(most, c.pace);
  return most;
}

} // namespace

BOOST_AUTO_TEST_CASE(what_steps_take_is_told_by_kind_of_device) {
  // By the profile, which lists no kinds, all devices take 10 ms.
  two_kinds rig{test::card_profile()};
  const auto& seen = rig.sut->cluster().workers;
  BOOST_TEST_REQUIRE(seen.size() == 2u);
  BOOST_TEST(seen[0].device_kind == "slow");
  BOOST_TEST(seen[1].device_kind == "quick");
  for (int i = 0; i < 10; ++i)
    rig.run_both();
  const auto& told = rig.clusters.back().costs;
  BOOST_TEST_REQUIRE(told.size() == 3u);
  BOOST_TEST(told[1].kind == "quick");
  BOOST_TEST(most_pace(told[1]) == 1, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(told[2].kind == "slow");
  BOOST_TEST(most_pace(told[2]) == 5, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(a_kind_that_is_as_slow_as_its_profile_keeps_its_pace) {
  two_kinds rig{with_slow_kind(5)};
  for (int i = 0; i < 10; ++i)
    rig.run_both();
  const auto& told = rig.clusters.back().costs;
  BOOST_TEST_REQUIRE(told.size() == 3u);
  for (const auto& of : told)
    BOOST_TEST(most_pace(of) == 1, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(a_row_goes_to_the_kind_that_ends_it_first) {
  two_kinds rig{with_slow_kind(5)};
  for (int i = 0; i < 3; ++i) {
    rig.submit_prepared();
    const auto work = rig.next<denoise>();
    BOOST_TEST_REQUIRE(work.has_value());
    BOOST_TEST((work->first.process == two_kinds::quick));
    rig.done(work->second);
    BOOST_REQUIRE(rig.work_off());
  }
}

BOOST_AUTO_TEST_CASE(what_one_kind_is_too_slow_for_waits_for_another) {
  // Four steps take 40 ms, and 4 s on the slow device.
  two_kinds rig{with_slow_kind(100)};
  rig.run_both(1s);
  std::vector<core::request_id> all;
  for (int i = 0; i < 2; ++i) {
    all.push_back(rig.submit(
      [&](core::request& x) { x.deadline = core::after(rig.now, 500ms); }));
    rig.done(rig.take<prepare>());
  }
  const auto first = rig.next<denoise>();
  BOOST_TEST_REQUIRE(first.has_value());
  BOOST_TEST((first->first.process == two_kinds::quick));
  BOOST_TEST(rig.count<denoise>() == 0u);
  BOOST_TEST(!rig.answered(all[1]));
  rig.now += 60ms;
  rig.done(first->second);
  const auto second = rig.next<denoise>();
  BOOST_TEST_REQUIRE(second.has_value());
  BOOST_TEST((second->first.process == two_kinds::quick));
}

BOOST_AUTO_TEST_CASE(a_device_is_given_the_time_that_its_kind_takes) {
  // A step on the slow device takes a second. Its limit is eight steps and five
  // seconds of silence; the quick one's limit is five seconds.
  two_kinds rig{with_slow_kind(100)};
  rig.submit_prepared();
  rig.submit_prepared();
  BOOST_TEST_REQUIRE(rig.count<denoise>() == 2u);
  rig.tick(7s);
  BOOST_TEST((rig.suspects == std::vector{two_kinds::quick}));
}

BOOST_AUTO_TEST_CASE(a_slow_device_gets_nothing_that_another_serves) {
  scheduler_rig rig;
  rig.add_cpu();
  const auto quick = scheduler_rig::life(2);
  const auto late = scheduler_rig::life(3);
  rig.add_device(quick);
  rig.add_device(late);
  const auto next = [&] {
    rig.submit();
    rig.done(rig.take<prepare>());
    auto work = rig.next<denoise>();
    BOOST_REQUIRE(work.has_value());
    return *work;
  };
  for (int i = 0; i < 2; ++i) {
    const auto [where, d] = next();
    rig.stepping({d.ticket}, where.process);
    actors::stepped run;
    run.worker = where;
    run.batch = 1;
    run.steps = 1;
    run.took = where.process == late ? 100ms : 10ms;
    for (int k = 0; k < 5; ++k) {
      // The scheduler checks once a second.
      rig.now += k == 0 || k == 4 ? 2s : 0s;
      rig.on(run);
    }
  }
  BOOST_TEST_REQUIRE(rig.sut->cluster().workers.size() == 1u);
  BOOST_TEST((rig.clusters.back().workers == rig.sut->cluster().workers));
  BOOST_TEST(rig.sut->status().workers.size() == 2u);
  // The quick device already has a row, and the late one is as free.
  BOOST_TEST((next().first.process == quick));
  BOOST_TEST((next().first.process == quick));
  // If no other device is left, the row continues on this one.
  rig.lose(quick);
  BOOST_TEST_REQUIRE(rig.sut->cluster().workers.size() == 1u);
  const auto again = rig.next<denoise>();
  BOOST_TEST_REQUIRE(again.has_value());
  BOOST_TEST((again->first.process == late));
}

BOOST_AUTO_TEST_CASE(a_full_house_says_when_a_tenth_is_done) {
  auto o = with_queue(1h);
  o.limits.requests = 3;
  measured rig{o, 10s};
  for (int i = 0; i < 3; ++i)
    rig.submit();
  const auto refused = rig.submit();
  // The wait is a tenth of 3 x 47 s.
  BOOST_TEST(core::to_seconds(rig.answer_to(refused).retry_after) == 14.1,
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(work_of_the_dead_is_predicted_again) {
  measured rig;
  rig.submit();
  rig.done(rig.take<prepare>());
  const auto d = rig.take<denoise>();
  rig.stepped(d, 2);
  rig.lose(scheduler_rig::life(2));
  rig.add_device(scheduler_rig::life(2, 2));
  // The rig compares rows and backlog after every event.
  BOOST_TEST(rig.work_off());
  BOOST_TEST(rig.quiet());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_in_time_is_told_early) {
  measured rig;
  // The request needs 1 + 2 + 4 x 10 + 5 + 3 ms.
  rig.lose(scheduler_rig::life(1));
  const auto tight = rig.with_deadline(60ms);
  rig.tick(8ms);
  BOOST_TEST(!rig.answered(tight));
  rig.tick(2ms);
  BOOST_REQUIRE(rig.answered(tight));
  BOOST_TEST((rig.failure_of(tight) == ec::deadline_missed));
  BOOST_TEST(rig.sut->counts().late == 1u);
}

BOOST_AUTO_TEST_CASE(what_runs_has_until_its_deadline) {
  measured rig;
  const auto id = rig.with_deadline(60ms);
  rig.done(rig.take<prepare>());
  const auto d = rig.take<denoise>();
  rig.tick(55ms);
  BOOST_TEST(!rig.answered(id));
  rig.tick(5ms);
  BOOST_TEST((rig.failure_of(id) == ec::deadline_missed));
  rig.reply_denoised(d.ticket);
}

BOOST_AUTO_TEST_CASE(without_a_measurement_only_the_deadline_counts) {
  scheduler_rig rig;
  const auto id = rig.submit(
    [&](core::request& x) { x.deadline = core::after(rig.now, 60ms); });
  rig.tick(59ms);
  BOOST_TEST(!rig.answered(id));
  rig.tick(1ms);
  BOOST_TEST((rig.failure_of(id) == ec::deadline_missed));
}

BOOST_AUTO_TEST_CASE(the_batch_that_it_would_join_is_counted) {
  measured rig;
  // Three rows run. A fourth makes steps of 40 ms, 4 x 40 + 2 + 5 + 3 in all.
  for (int i = 0; i < 3; ++i) {
    rig.submit();
    rig.done(rig.take<prepare>());
    rig.take<denoise>();
  }
  const auto hopeless = rig.with_deadline(150ms);
  const auto p = rig.take<prepare>();
  rig.done(p);
  BOOST_REQUIRE(rig.answered(hopeless));
  BOOST_TEST((rig.failure_of(hopeless) == ec::deadline_missed));
  const auto fine = rig.with_deadline(200ms);
  rig.done(rig.take<prepare>());
  BOOST_TEST(!rig.answered(fine));
  BOOST_TEST(rig.count<denoise>() == 1u);
}

BOOST_AUTO_TEST_CASE(of_full_workers_the_soonest_is_chosen) {
  scheduler_rig rig;
  rig.add_cpu(scheduler_rig::life(1), 16);
  // Each device runs one row in each step and has seats for waiting rows. One
  // device has ten times the steps.
  rig.add_device(scheduler_rig::life(2), 4, 1);
  rig.add_device(scheduler_rig::life(3), 4, 1);
  rig.submit([](core::request& x) { x.fixed.steps = 40; });
  rig.done(rig.take<prepare>());
  const auto slow = rig.next<denoise>();
  rig.submit([](core::request& x) { x.fixed.steps = 2; });
  rig.done(rig.take<prepare>());
  const auto quick = rig.next<denoise>();
  BOOST_REQUIRE((slow && quick));
  BOOST_REQUIRE((slow->first != quick->first));
  // Both are equally loaded by seats, so the third request goes to the device
  // with less left.
  for (int i = 0; i < 2; ++i) {
    rig.submit([](core::request& x) { x.fixed.steps = 2; });
    rig.done(rig.take<prepare>());
    const auto third = rig.next<denoise>();
    BOOST_REQUIRE(third.has_value());
    BOOST_TEST((third->first == quick->first));
  }
}

BOOST_AUTO_TEST_SUITE_END()
