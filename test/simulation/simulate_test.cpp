// SPDX-License-Identifier: Apache-2.0
#include "planning/every_policy.hpp"
#include "planning/full_profile.hpp"
#include "simulation/ran.hpp"
#include "support/host_policy.hpp"
#include <atelier/planning/profile_file.hpp>
#include <atelier/simulation/simulate.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cmath>
#include <set>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using runtime::fault;
using runtime::fault_kind;
using runtime::outcome;
using runtime::scenario;
using test::ran;

/// Returns a light variant of 0.1 s, a heavy one of 1 s, and a judge that
/// passes half of the light images at 0.5.
std::shared_ptr<planning::profile> cascade() {
  auto p = std::make_shared<planning::profile>();
  for (const bool heavy : {false, true}) {
    planning::variant_profile v;
    v.model = heavy ? "heavy" : "light";
    v.steps = heavy ? 10 : 1;
    v.name = v.model + "@" + std::to_string(v.steps);
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, 100ms}, {4, 64 * 64, 200ms}};
    v.quality = heavy ? 1 : 0.8;
    v.load = 2s;
    p->variants.push_back(v);
  }
  planning::cascade_profile c;
  c.light = core::variant_id{0};
  c.heavy = core::variant_id{1};
  c.judge = "judge";
  c.deadline = 5s;
  for (int k = 0; k <= 20; ++k)
    c.deferred.emplace_back(k / 20.0, k / 20.0);
  c.fid = {{0, 20}, {0.5, 18}, {1, 24}};
  p->cascades.push_back(c);
  return p;
}

scenario base(std::string_view policy, double rate = 8, double seconds = 120) {
  scenario x;
  x.profile = cascade();
  x.policy = test::any_policy(policy);
  planning::load_spec load;
  load.low = load.high = rate;
  load.seconds = seconds;
  uint64_t content = 0;
  const auto times = planning::arrivals(load);
  for (const double t : *times)
    x.trace.push_back({t, ++content % 500});
  x.workers = 8;
  x.deadline = runtime::usual_deadline(*x.profile);
  return x;
}

/// Returns a scenario of one worker without requests.
scenario one_worker() {
  auto x = base("diffserve");
  auto known = cascade();
  known->cascades[0].fid = {{0, 18}, {1, 24}};
  x.profile = known;
  x.workers = 1;
  x.trace.clear();
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(simulate)

BOOST_AUTO_TEST_CASE(every_policy_answers_every_request_of_every_kind) {
  for (const auto& policy : test::every_policy()) {
    auto x = base(policy->name(), 6, 40);
    x.check_every = 97;
    x.noise = 0.1;
    BOOST_TEST_CONTEXT(policy->name()) {
      if (policy->name() == "score-cascade"
          || policy->name() == "clip-cascade") {
        BOOST_TEST(!runtime::simulate(x));
        continue;
      }
      const auto out = ran(x);
      BOOST_TEST(out.completed > 0u);
      BOOST_TEST(out.utilisation > 0);
      BOOST_TEST(out.utilisation <= 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_policy_of_ones_own_decides_and_remembers) {
  auto x = base("vanilla", 2, 60);
  const auto light = ran(x);
  const auto own = std::make_shared<const test::turn_policy>();
  x.policy = own;
  const auto heavy = ran(x);
  BOOST_TEST(own->chosen >= x.trace.size());
  BOOST_TEST(heavy.digest != light.digest);
  // The second variant draws all images. The policy chooses it as long as the
  // plans' memory comes back.
  BOOST_TEST(std::abs(light.quality_mean - 0.8) < 1e-9);
  BOOST_TEST(heavy.quality_mean == 1.0);
}

BOOST_AUTO_TEST_CASE(same_seed_same_events_another_seed_others) {
  auto x = base("diffserve");
  x.noise = 0.2;
  x.faults = {{fault_kind::crash, 30, 20, 2, 3, 1},
              {fault_kind::hang, 60, 30, 0, 1, 1}};
  const auto a = ran(x);
  const auto b = ran(x);
  BOOST_TEST(a.digest == b.digest);
  BOOST_TEST(a.events == b.events);
  BOOST_TEST(a.latency_mean_ms == b.latency_mean_ms);
  x.seed = 2;
  const auto c = ran(x);
  BOOST_TEST(a.digest != c.digest);
}

BOOST_AUTO_TEST_CASE(a_cascade_defers_as_its_threshold_says) {
  // At two requests a second, eight workers have time for the heavy variant.
  const auto calm = ran(base("diffserve-paper", 2, 300));
  const auto busy = ran(base("diffserve-paper", 12, 300));
  BOOST_TEST(calm.light_share < busy.light_share);
  BOOST_TEST(calm.violation_ratio() < 0.02);
  BOOST_TEST(busy.fid > 0);
  const auto light = ran(base("clipper-light", 12, 100));
  BOOST_TEST(light.light_share == 1.0);
}

BOOST_AUTO_TEST_CASE(load_beyond_capacity_is_dropped_and_counted) {
  auto x = base("clipper-heavy", 30, 100);
  const auto out = ran(x);
  BOOST_TEST(out.dropped > out.requests / 4);
  BOOST_TEST(out.utilisation > 0.9);
  uint64_t arrived = 0;
  uint64_t dropped = 0;
  for (const auto& i : out.series) {
    arrived += i.arrived;
    dropped += i.dropped;
    BOOST_TEST(i.arrived == i.in_time + i.late + i.dropped);
  }
  BOOST_TEST(arrived == out.requests);
  BOOST_TEST(dropped == out.dropped);
}

BOOST_AUTO_TEST_CASE(energy_is_watts_times_the_time_of_what_runs) {
  const auto with_watts = [](double light, double heavy, double idle) {
    auto p = cascade();
    p->variants[0].busy_watts = light;
    p->variants[1].busy_watts = heavy;
    p->idle_watts = idle;
    return p;
  };
  // All devices host the light variant, and no other variant is requested.
  auto x = base("vanilla", 4, 60);
  x.profile = with_watts(300, 0, 40);
  const auto light = ran(x);
  const double idle = 40 * (8 * light.virtual_seconds - light.device_seconds);
  BOOST_TEST(std::abs(light.idle_joules - idle) < 1e-6 * idle);
  BOOST_TEST(std::abs(light.joules - idle - 300 * light.device_seconds)
             < 1e-6 * light.joules);
  // The load has two variants, and devices that load use the power of an idle
  // one.
  auto y = base("diffserve", 6, 60);
  y.profile = with_watts(100, 100, 0);
  const auto same = ran(y);
  BOOST_TEST(same.loads > 0u);
  BOOST_TEST(same.joules > 0);
  BOOST_TEST(same.joules < 100 * same.device_seconds);
  y.profile = with_watts(100, 250, 0);
  const auto more = ran(y);
  BOOST_TEST(more.digest == same.digest);
  BOOST_TEST(more.joules > same.joules);
  BOOST_TEST(more.joules < 2.5 * same.joules);
  y.profile = with_watts(0, 250, 0);
  const auto by_heavy = ran(y);
  BOOST_TEST(by_heavy.joules < 0);
  // Energy is unknown if the power is not measured.
  y.profile = with_watts(100, 0, 10);
  BOOST_TEST(ran(y).joules < 0);
}

BOOST_AUTO_TEST_CASE(workers_that_die_cost_no_request) {
  auto x = base("diffserve", 4, 120);
  x.check_every = 31;
  x.deadline = core::timespan{0};
  x.faults = {{fault_kind::crash, 40, 30, 0, 4, 1}};
  const auto out = ran(x);
  BOOST_TEST(out.workers_lost == 4u);
  BOOST_TEST(out.completed == out.requests);
}

BOOST_AUTO_TEST_CASE(half_of_the_workers_dead_costs_one_planning_period) {
  auto x = base("diffserve", 5, 200);
  x.faults = {{fault_kind::crash, 100, 1000, 0, 4, 1}};
  const auto half = ran(x);
  auto y = base("diffserve", 5, 200);
  y.workers = 4;
  const auto small = ran(y);
  const auto ratio = [](const outcome& of, double from) {
    uint64_t all = 0;
    uint64_t bad = 0;
    for (const auto& i : of.series)
      if (i.begin_seconds >= from) {
        all += i.arrived;
        bad += i.late + i.dropped;
      }
    return static_cast<double>(bad) / static_cast<double>(all);
  };
  // After a period of 5 s and the deadline, the result is as with four workers
  // from the start.
  BOOST_TEST(ratio(half, 115) <= ratio(small, 115) + 0.02);
}

// From 100 s on, one of the workers takes ten times as long. Once a few of its
// runs have shown it, the simulation continues as if the worker did not exist.
BOOST_AUTO_TEST_CASE(a_slow_worker_is_done_without) {
  const auto bad_from = [](const outcome& of, double from) {
    double all = 0;
    double bad = 0;
    for (const auto& i : of.series)
      if (i.begin_seconds >= from) {
        all += static_cast<double>(i.arrived);
        bad += static_cast<double>(i.late + i.dropped);
      }
    return bad / all;
  };
  for (const auto* name : {"diffserve", "atelier"})
    BOOST_TEST_CONTEXT(name) {
      auto x = base(name, 2.5, 600);
      x.check_every = 1009;
      x.workers = 3;
      x.faults = {{fault_kind::slow_worker, 100, 1000, 0, 1, 10}};
      const auto beside = ran(x);
      auto y = base(name, 2.5, 600);
      y.workers = 2;
      const auto without = ran(y);
      BOOST_TEST_MESSAGE(name << ": " << bad_from(beside, 250) << " beside, "
                              << bad_from(without, 250) << " without");
      BOOST_TEST(bad_from(beside, 250) <= bad_from(without, 250) + 0.01);
    }
}

BOOST_AUTO_TEST_CASE(one_worker_leaves_the_heavy_variant_when_the_load_jumps) {
  auto x = one_worker();
  for (int i = 0; i < 80; ++i)
    x.trace.push_back({1.25 * i, static_cast<uint64_t>(i)});
  for (int i = 0; i < 600; ++i)
    x.trace.push_back({100 + i / 6.0, static_cast<uint64_t>(80 + i)});
  uint64_t heavy_before = 0;
  uint64_t bad_after = 0;
  for (const auto& i : ran(x).series) {
    if (i.begin_seconds < 100)
      heavy_before += i.answered_here - i.light;
    if (i.begin_seconds >= 120)
      bad_after += i.late + i.dropped;
  }
  BOOST_TEST(heavy_before > 40u);
  BOOST_TEST(bad_after < 24u);
}

// The first seconds ask for the light variant, all others for the heavy one.
BOOST_AUTO_TEST_CASE(a_choice_from_the_first_requests_is_soon_corrected) {
  auto x = one_worker();
  for (int i = 0; i < 40; ++i)
    x.trace.push_back({i / 6.0, static_cast<uint64_t>(i)});
  for (int i = 0; i < 100; ++i)
    x.trace.push_back({7 + 1.25 * i, static_cast<uint64_t>(40 + i)});
  uint64_t heavy_early = 0;
  uint64_t heavy_late = 0;
  for (const auto& i : ran(x).series)
    (i.begin_seconds < 20 ? heavy_early : heavy_late) +=
      i.answered_here - i.light;
  BOOST_TEST(heavy_early == 0u);
  BOOST_TEST(heavy_late > 50u);
}

BOOST_AUTO_TEST_CASE(a_hung_worker_is_killed_and_its_requests_go_on) {
  auto x = base("diffserve", 4, 120);
  x.deadline = core::timespan{0};
  x.faults = {{fault_kind::hang, 40, 60, 0, 1, 1}};
  const auto out = ran(x);
  BOOST_TEST(out.workers_lost == 1u);
  BOOST_TEST(out.completed == out.requests);
}

BOOST_AUTO_TEST_CASE(a_solver_that_fails_or_is_late_leaves_the_last_plan) {
  auto x = base("diffserve", 6, 120);
  x.faults = {{fault_kind::solver_fails, 30, 60, 0, 1, 1}};
  const auto fails = ran(x);
  BOOST_TEST(fails.violation_ratio() < 0.05);
  x.faults = {{fault_kind::solver_late, 30, 60, 0, 1, 8}};
  const auto late = ran(x);
  BOOST_TEST(late.violation_ratio() < 0.05);
  BOOST_TEST(late.plans < ran(base("diffserve", 6, 120)).plans);
}

BOOST_AUTO_TEST_CASE(a_load_jump_multiplies_the_arrivals) {
  auto x = base("diffserve", 4, 100);
  const auto before = x.trace.size();
  x.faults = {{fault_kind::load_jump, 50, 25, 0, 1, 3}};
  const auto out = ran(x);
  BOOST_TEST(out.requests > before + before / 3);
  BOOST_TEST(out.requests < before + 2 * before / 3);
}

BOOST_AUTO_TEST_CASE(
  levels_by_cached_latents_save_steps_unless_the_cache_fails) {
  auto p = cascade();
  p->cascades.clear();
  planning::ladder_profile ladder;
  ladder.levels = {{core::variant_id{1}, 0, 1, {}},
                   {core::variant_id{1}, 5, 0.9, {}}};
  ladder.class_shares = {0.3, 0.7};
  p->ladders.push_back(ladder);
  auto x = base("argus", 10, 200);
  x.profile = p;
  x.deadline = 6s;
  const auto out = ran(x);
  BOOST_TEST(out.cache_hits > 0u);
  BOOST_TEST(out.saved_steps > 0.1);
  x.faults = {{fault_kind::lost_cache, 0, 1000, 0, 1, 1}};
  x.check_every = 101;
  const auto lost = ran(x);
  BOOST_TEST(lost.saved_steps < out.saved_steps);
}

// The table is of 50 steps, and the run of 10 keeps a state after half of its
// own.
BOOST_AUTO_TEST_CASE(a_short_run_starts_after_its_own_steps) {
  auto p = cascade();
  p->cascades.clear();
  planning::reuse_profile reuse;
  reuse.full = core::variant_id{1};
  reuse.latents = {{25, 0.8}};
  p->reuse = reuse;
  auto x = base("nirvana-no-predictor", 1, 100);
  x.profile = p;
  x.deadline = 60s;
  x.nearest_prompts = {0.9, 0.7};
  const auto out = ran(x);
  // Half of the requests skip half, but for those that start afresh.
  BOOST_TEST(out.saved_steps > 0.2);
  BOOST_TEST(out.saved_steps <= 0.25);
}

BOOST_AUTO_TEST_CASE(what_a_policy_asks_and_nothing_measured_tells_is_named) {
  const auto refusal = [](const scenario& x) {
    const auto out = runtime::simulate(x);
    return out ? std::string{} : out.why().text;
  };
  BOOST_TEST(refusal(base("score-cascade", 2, 60))
               .find("score-cascade has images judged by 'pickscore'")
             == 0u);
  const auto p = std::make_shared<planning::profile>(test::full_profile());
  p->cascades.clear();
  const auto with = [&](const char* policy) {
    auto y = base(policy, 0.2, 60);
    y.profile = p;
    y.deadline = 60s;
    return y;
  };
  BOOST_TEST(refusal(with("nirvana-paper")) == "");
  p->reuse->predictor.reset();
  BOOST_TEST(refusal(with("nirvana-paper"))
               .find("nirvana-paper asks a predictor of hits")
             == 0u);
  BOOST_TEST(refusal(with("nirvana-no-predictor")) == "");
  // The similarity of prompts says nothing about prompts and images.
  BOOST_TEST(refusal(with("modm")).find("modm compares prompts with images")
             == 0u);
  p->reuse->near.reset();
  BOOST_TEST(refusal(with("nirvana-no-predictor"))
               .find("nirvana-no-predictor compares prompts")
             == 0u);
  auto told = with("modm");
  told.similarity = {0.28, 0.02, 1};
  BOOST_TEST(refusal(told) == "");

  p->ladders[0].accuracy.reset();
  BOOST_TEST(refusal(with("argus")).find("argus asks for predicted classes")
             == 0u);
  told = with("argus");
  told.classifier_accuracy = 0.9;
  BOOST_TEST(refusal(told) == "");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_simulated_is_told) {
  auto x = base("diffserve");
  x.trace.clear();
  BOOST_TEST(!runtime::simulate(x));
  x = base("diffserve");
  x.workers = 0;
  BOOST_TEST(!runtime::simulate(x));
  x = base("diffserve");
  x.faults = {{fault_kind::crash, 1, 1, 99, 1, 1}};
  BOOST_TEST(!runtime::simulate(x));
  const auto stopped = runtime::simulate(base("diffserve", 20, 300),
                                         [](uint64_t) { return false; });
  BOOST_REQUIRE(!stopped);
  BOOST_TEST((stopped.why().code == core::ec::cancelled));
}

BOOST_AUTO_TEST_CASE(it_stops_while_no_request_comes_for_hours) {
  auto x = base("vanilla");
  x.trace = {{1, 1}, {20'000, 2}};
  std::vector<uint64_t> told;
  const auto stopped = runtime::simulate(x, [&](uint64_t done) {
    told.push_back(done);
    return told.size() < 2;
  });
  BOOST_REQUIRE(!stopped);
  BOOST_TEST((stopped.why().code == core::ec::cancelled));
  BOOST_TEST(told == (std::vector<uint64_t>{1, 1}));
}

BOOST_AUTO_TEST_CASE(drawing_and_encoding_take_the_profiles_times) {
  auto p = cascade();
  p->prepare = 50ms;
  p->finish = 70ms;
  auto x = base("vanilla", 8, 10);
  x.profile = p;
  x.trace = {{1, 1}, {10, 2}};
  const auto out = ran(x);
  // There is one step of the light variant between them.
  BOOST_TEST(out.latency_mean_ms == 220, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(out.first_step_mean_ms == 50, boost::test_tools::tolerance(1e-6));
  // Pools do both in parallel, so that many requests take no longer.
  x.trace.assign(4, {1, 1});
  x.max_batch = 4;
  x.workers = 4;
  BOOST_TEST(ran(x).latency_p99_ms <= 420);
}

BOOST_AUTO_TEST_CASE(requests_ask_for_what_the_scenario_wishes) {
  auto x = base("vanilla", 1, 10);
  x.trace = {{1, 1}, {10, 2}};
  x.wish = [](core::request& to) {
    if (to.id.value == 2)
      to.fixed.steps = 5;
  };
  const auto out = ran(x);
  BOOST_TEST(out.latency_mean_ms == 300, boost::test_tools::tolerance(1e-6));
}

// The profile comes from a file, as that of `atelier simulate` does.
BOOST_AUTO_TEST_CASE(a_row_of_a_distilled_model_takes_one_place) {
  auto p = *cascade();
  for (auto& v : p.variants)
    v.embeds_guidance = true;
  auto x = base("vanilla", 1, 10);
  x.trace = {{1, 1}, {10, 2}};
  x.wish = [](core::request& to) { to.fixed.guidance = 1; };
  auto read = planning::parse_profile(planning::to_json(p), "p");
  BOOST_REQUIRE(read);
  x.profile = std::make_shared<const planning::profile>(*std::move(read));
  BOOST_TEST(ran(x).latency_mean_ms == 100, boost::test_tools::tolerance(1e-6));
  // Without a guidance, a row of other models takes half of its places.
  x.profile = cascade();
  BOOST_TEST(ran(x).latency_mean_ms < 95);
}

BOOST_AUTO_TEST_CASE(a_strength_leaves_out_steps_of_lcm_as_the_profile_says) {
  auto p = *cascade();
  p.variants[0].steps = 4;
  p.variants[0].name = "light@4";
  p.variants[0].sampler = core::sampler::lcm;
  auto x = base("vanilla", 1, 10);
  x.trace = {{1, 1}, {10, 2}};
  x.edits.share = 1;
  x.wish = [](core::request& to) { to.fixed.strength = 0.5f; };
  for (const auto& [how, ms] : {std::pair{core::share_steps::spread, 400},
                                std::pair{core::share_steps::cut, 200}}) {
    p.variants[0].lcm_steps = how;
    auto read = planning::parse_profile(planning::to_json(p), "p");
    BOOST_REQUIRE(read);
    x.profile = std::make_shared<const planning::profile>(*std::move(read));
    BOOST_TEST(ran(x).latency_mean_ms == ms,
               boost::test_tools::tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(rows_join_as_the_scenario_says_whatever_the_plan) {
  auto x = base("vanilla", 12, 60);
  x.workers = 1;
  x.deadline = core::timespan{0};
  const auto by_steps = ran(x);
  x.join = planning::joining::single;
  const auto one_by_one = ran(x);
  // A batch of four takes the time of two.
  BOOST_TEST(by_steps.latency_mean_ms * 2 < one_by_one.latency_mean_ms);
  BOOST_TEST(one_by_one.completed == one_by_one.requests);
}

BOOST_AUTO_TEST_CASE(levels_of_steps_run_in_full_batches_together) {
  auto p = std::make_shared<planning::profile>();
  for (const uint32_t steps : {50u, 20u, 8u}) {
    planning::variant_profile v;
    v.model = "base";
    v.steps = steps;
    v.name = v.model + "@" + std::to_string(steps);
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, 10ms}, {8, 64 * 64, 10ms}};
    // Images are decoded one after another, so that rows end at different
    // steps.
    v.decode = 600us;
    v.load = 130ms;
    p->variants.push_back(v);
  }
  for (const auto* policy : {"vanilla", "atelier"}) {
    auto x = base(policy);
    x.profile = p;
    x.workers = 1;
    x.deadline = core::timespan{0};
    const auto run_of = [&](const std::vector<uint32_t>& variants) {
      x.trace.clear();
      for (uint32_t i = 0; i < 80 * variants.size(); ++i) {
        planning::traced_arrival one{0, i};
        one.variant = variants[i % variants.size()];
        x.trace.push_back(one);
      }
      auto out = ran(x);
      BOOST_TEST(out.completed == out.requests);
      return out;
    };
    const auto seconds_of = [](const outcome& out) {
      return static_cast<double>(out.completed) / out.throughput_qps;
    };
    BOOST_TEST_CONTEXT(policy) {
      const auto one_by_one = seconds_of(run_of({0})) + seconds_of(run_of({1}))
                            + seconds_of(run_of({2}));
      const auto together = run_of({0, 1, 2});
      BOOST_TEST(seconds_of(together) < 1.1 * one_by_one);
      // The device holds the model, and with it all levels, from the start.
      BOOST_TEST(together.loads == 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(scripts_are_read_and_every_fault_in_one_is_told) {
  const auto good = runtime::parse_faults(
    R"({"format": "atelier.faults", "version": 1, "faults": [
      {"kind": "crash", "at_s": 3, "for_s": 4, "worker": 1, "workers": 2},
      {"kind": "slow_cache", "at_s": 0.5, "factor": 20}]})",
    "x.json");
  BOOST_REQUIRE(good);
  BOOST_TEST(((*good)[0] == fault{fault_kind::crash, 3, 4, 1, 2, 1}));
  BOOST_TEST(((*good)[1] == fault{fault_kind::slow_cache, 0.5, 60, 0, 1, 20}));
  const auto bad = runtime::parse_faults(
    R"({"format": "other", "version": 2, "faults": [
      {"kind": "rain", "at_s": -1, "workers": 0.5, "wind": 3}, 7]})",
    "x.json");
  BOOST_REQUIRE(!bad);
  for (const char* part :
       {"script.format", "script.version", "faults[0].kind: 'rain'",
        "faults[0].at_s: -1", "faults[0].workers", "faults[0].wind",
        "faults[1]: 7"})
    BOOST_TEST(bad.why().text.find(part) != std::string::npos, part);
  BOOST_TEST(!runtime::parse_faults("[1,", "x.json"));
}

BOOST_AUTO_TEST_SUITE_END()
