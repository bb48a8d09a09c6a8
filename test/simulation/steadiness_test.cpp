// SPDX-License-Identifier: Apache-2.0

// The behaviour of policies over hours: they settle, return, and use their
// plans.

#include "planning/every_policy.hpp"
#include "planning/profiles/read_profile.hpp"
#include "simulation/ran.hpp"
#include <atelier/planning/demand/workload.hpp>

#include <boost/test/unit_test.hpp>
#include <support/scale.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using runtime::fault;
using runtime::fault_kind;
using runtime::outcome;
using runtime::scenario;
using test::ran;

scenario base(std::string_view profile, std::string_view policy, double rate,
              double seconds) {
  scenario x;
  x.profile = std::make_shared<planning::profile>(test::read_profile(profile));
  x.policy = test::any_policy(policy);
  planning::load_spec load;
  load.low = load.high = rate;
  load.seconds = seconds;
  uint64_t content = 0;
  const auto times = planning::arrivals(load);
  for (const double t : *times)
    x.trace.push_back({t, ++content % 5000});
  x.noise = 0.02;
  x.deadline = runtime::usual_deadline(*x.profile);
  return x;
}

uint64_t searches_between(const outcome& of, double from, double to) {
  uint64_t n = 0;
  for (const auto& i : of.series)
    if (i.begin_seconds >= from && i.begin_seconds < to)
      n += i.searches;
  return n;
}

} // namespace

BOOST_AUTO_TEST_SUITE(steadiness)

BOOST_AUTO_TEST_CASE(full_runs_for_the_cache_are_within_the_plan) {
  // Sixteen workers run 40 requests a second on the fastest level.
  constexpr double rate = 0.94 * 16 / 0.4;
  const auto ours = ran(base("steep-ladder", "argus", rate, 600));
  const auto paper = ran(base("steep-ladder", "argus-paper", rate, 600));
  BOOST_TEST(ours.utilisation <= 0.97);
  BOOST_TEST(ours.violation_ratio() <= paper.violation_ratio());
  BOOST_TEST(ours.latency_p50_ms < 3000);
}

BOOST_AUTO_TEST_CASE(a_cache_that_is_well_again_is_searched_again) {
  auto x = base("argus-a100", "argus", 5, 2400);
  x.window = 60s;
  x.period = 60s;
  x.faults = {{fault_kind::slow_cache, 1200, 600, 0, 1, 100}};
  const auto out = ran(x);
  BOOST_TEST(searches_between(out, 600, 1200) > 0u);
  // The mode is left at once, not at the end of a window and a period.
  BOOST_TEST(searches_between(out, 1230, 1800) == 0u);
  BOOST_TEST(searches_between(out, 1800, 1920) > 0u);
  BOOST_TEST(searches_between(out, 2100, 2400) > 0u);
}

BOOST_AUTO_TEST_CASE(a_split_by_hits_settles_whatever_the_window) {
  // Sixteen workers that draw everything in full answer .175 a second. The last
  // rate exceeds that.
  constexpr double capacity = 16 / 91.5;
  for (const double share : {0.2, 0.4, 0.6, 0.2 / capacity}) {
    const double rate = share * capacity;
    auto x = base("modm-load", "vanilla", rate, 3600);
    x.deadline = 400s;
    x.similarity = {0.28, 0.02, 1};
    const auto vanilla = ran(x);
    for (const auto window : {1s, 10s, 60s}) {
      x.policy = *planning::make_policy("modm");
      x.window = window;
      const auto out = ran(x);
      BOOST_TEST_CONTEXT(rate << "/s, windows of " << window.count() << " s") {
        BOOST_TEST(out.loads <= 20u);
        BOOST_TEST(out.violation_ratio() <= vanilla.violation_ratio());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_steady_load_moves_no_hosts) {
  struct served {
    const char* profile;
    std::vector<const char*> policies;
    double rate;
    planning::nearness near{0.8, 0.1, 1};
  };

  // The load is about half of what sixteen devices answer. The policies are all
  // that decide what devices host, except those with a paper's name.
  const served all[] = {
    {"diffserve-sdxl-lightning", {"vanilla", "diffserve", "atelier"}, 4},
    {"diffserve-sdxs", {"diffserve"}, 20},
    {"argus-a100", {"vanilla", "argus", "pac", "atelier"}, 2},
    {"nirvana-a10g", {"vanilla", "nirvana", "atelier"}, 1},
    {"modm-mi210", {"vanilla", "modm", "atelier"}, 0.3, {0.28, 0.02, 1}}};
  const auto seconds = 600 + static_cast<double>(test::scaled(50'000));
  for (const served& s : all)
    for (const char* policy : s.policies) {
      auto x = base(s.profile, policy, s.rate, seconds);
      x.similarity = s.near;
      x.classifier_accuracy = 0.9;
      x.predictor = planning::hit_predictor{0.9, 0.1};
      // The count begins with the third plan.
      const double settled = 3 * core::to_seconds(x.period);
      uint64_t loads = 0;
      for (const auto& i : ran(x).series)
        loads += i.begin_seconds >= settled ? i.loads : 0;
      BOOST_TEST(static_cast<double>(loads) < std::max(1.0, seconds / 1000),
                 policy << " on " << s.profile << ": " << loads << " in "
                        << seconds << " s");
    }
}

BOOST_AUTO_TEST_CASE(a_deadline_that_no_image_meets_is_told) {
  const auto out = ran(base("impossible-deadline", "diffserve-paper", 10, 20));
  BOOST_TEST(out.completed == 0u);
  BOOST_TEST(out.infeasible.find("deadline_ms 40") != std::string::npos,
             out.infeasible);
  BOOST_TEST(ran(base("diffserve-sdxs", "diffserve", 10, 20)).infeasible == "");
}

BOOST_AUTO_TEST_SUITE_END()
