// SPDX-License-Identifier: Apache-2.0
#include "planning/every_policy.hpp"
#include "simulation/ran.hpp"
#include <atelier/planning/policies/instgenie/instgenie.hpp>
#include <atelier/simulation/knowledge.hpp>
#include <atelier/simulation/simulate.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cmath>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using runtime::edit_of;
using runtime::fault_kind;
using runtime::scenario;
using test::ran;

/// Returns a profile with ten steps of ten blocks. A full image takes 6.5 ms
/// for each step, and a mask of share m takes 0.5 + 6 m ms and loads nothing.
std::shared_ptr<planning::profile> editor() {
  auto p = std::make_shared<planning::profile>();
  planning::variant_profile v;
  v.model = "editor";
  v.name = "editor@10";
  v.steps = 10;
  v.native_px = {64, 64};
  v.step = {{1, 64 * 64, 6500us}, {4, 64 * 64, 25700us}};
  p->variants.push_back(v);
  planning::masked_profile m;
  m.variant = core::variant_id{0};
  m.blocks = 10;
  m.tokens = 100;
  m.width = 10;
  m.compute_slope = 1e-9;
  m.compute_base = 1e-5;
  p->masked.push_back(m);
  return p;
}

scenario base(std::string_view policy, size_t requests, double gap) {
  scenario x;
  x.profile = editor();
  x.policy = test::any_policy(policy);
  for (size_t i = 0; i < requests; ++i)
    x.trace.push_back({gap * static_cast<double>(i + 1), i});
  x.workers = 1;
  x.max_batch = 4;
  x.edits = {1, 0.5, 0, 1};
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(edits)

BOOST_AUTO_TEST_CASE(an_edit_costs_by_its_mask) {
  const auto tolerance = boost::test_tools::tolerance(1e-4);
  auto x = base("instgenie", 20, 1);
  const auto half = ran(x);
  BOOST_TEST(half.edits == 20u);
  BOOST_TEST(half.latency_mean_ms == 35.0, tolerance);
  x.edits.mean = 0.1;
  BOOST_TEST(ran(x).latency_mean_ms == 11.0, tolerance);
  x.edits.share = 0;
  const auto none = ran(x);
  BOOST_TEST(none.edits == 0u);
  BOOST_TEST(none.latency_mean_ms == 65.0, tolerance);
}

BOOST_AUTO_TEST_CASE(an_edit_without_records_costs_a_full_image) {
  const auto tolerance = boost::test_tools::tolerance(1e-4);
  for (const char* policy : {"vanilla", "full-recompute"})
    BOOST_TEST(ran(base(policy, 20, 1)).latency_mean_ms == 65.0, tolerance);
  auto x = base("instgenie", 20, 1);
  x.edits.recorded = 0;
  BOOST_TEST(ran(x).latency_mean_ms == 65.0, tolerance);
  x = base("instgenie", 20, 1);
  x.faults = {{fault_kind::lost_cache, 0, 1000, 0, 1, 1}};
  BOOST_TEST(ran(x).latency_mean_ms == 65.0, tolerance);
  x = base("instgenie", 20, 1);
  auto without = editor();
  without->masked.clear();
  x.profile = without;
  BOOST_TEST(ran(x).latency_mean_ms == 65.0, tolerance);
}

BOOST_AUTO_TEST_CASE(a_batch_of_unlike_masks_takes_the_time_of_their_sum) {
  // Four requests arrive at once on one worker, and run together from the first
  // step on.
  auto x = base("static-batching", 4, 0);
  x.edits.mean = 0.4;
  x.edits.spread = 0.2;
  double sum = 0;
  for (uint64_t id = 1; id <= 4; ++id) {
    const auto mask = edit_of(x, core::request_id{id});
    BOOST_REQUIRE(mask);
    sum += mask->ratio;
  }
  const double step = 0.1 + 4 * 0.4 + 6 * sum;
  BOOST_TEST(ran(x).latency_mean_ms == 10 * step,
             boost::test_tools::tolerance(1e-4));
}

BOOST_AUTO_TEST_CASE(measured_masks_are_drawn_as_often_as_they_are_there) {
  auto x = base("instgenie", 1, 1);
  x.edits.masks = {0.05, 0.05, 0.8};
  size_t large = 0;
  constexpr size_t n = 3000;
  for (uint64_t id = 1; id <= n; ++id) {
    const double ratio = edit_of(x, core::request_id{id})->ratio;
    BOOST_TEST((ratio == 0.05 || ratio == 0.8));
    large += ratio == 0.8 ? 1 : 0;
  }
  BOOST_TEST(large > n / 4);
  BOOST_TEST(large < n / 2);
  const auto read = runtime::parse_masks("0.25\r\n\n1\n0.5", "m");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST((*read == std::vector<double>{0.25, 1, 0.5}));
  for (const std::string bad : {"1.5", "x", "0.5 0.5", "nan", "-0.1"})
    BOOST_TEST(runtime::parse_masks("0.5\n" + bad, "m").why().text
               == "m: line 2: '" + bad + "' is not a number in 0..1");
  BOOST_TEST(runtime::parse_masks("\n", "m").why().text
             == "m: no masked share was found");
  // An edit that masks nothing is still an edit.
  x = base("instgenie", 20, 1);
  x.edits.masks = {0};
  BOOST_TEST(ran(x).edits == 20u);
}

BOOST_AUTO_TEST_CASE(masks_have_the_share_and_mean_that_are_asked_for) {
  auto x = base("instgenie", 1, 1);
  x.edits = {0.7, 0.19, runtime::usual_spread(0.19), 0.4};
  double edits = 0;
  double masked = 0;
  double recorded = 0;
  constexpr int n = 20'000;
  for (uint64_t id = 1; id <= n; ++id)
    if (const auto mask = edit_of(x, core::request_id{id})) {
      ++edits;
      masked += mask->ratio;
      recorded += mask->recorded ? 1 : 0;
    }
  BOOST_TEST(std::abs(edits / n - 0.7) < 0.01);
  BOOST_TEST(std::abs(masked / edits - 0.19) < 0.01);
  BOOST_TEST(std::abs(recorded / edits - 0.4) < 0.02);
}

// One worker has a large mask, the other a small one. A third edit goes to the
// small one, although both have one request.
BOOST_AUTO_TEST_CASE(workers_are_chosen_by_masks) {
  auto x = base("instgenie", 3, 0.001);
  x.workers = 2;
  x.edits = {1, 0.4, 0.3, 1};
  const auto ratio = [&](uint64_t id) {
    return edit_of(x, core::request_id{id})->ratio;
  };
  while (ratio(1) < 0.8 || ratio(2) > 0.2 || ratio(3) > 0.2)
    ++x.seed;
  const auto ours = ran(x);
  x.policy = *planning::make_policy("instgenie-paper");
  const auto published = ran(x);
  x.policy = test::any_policy("request-balance");
  const auto counted = ran(x);
  BOOST_TEST(ours.latency_mean_ms < 0.95 * counted.latency_mean_ms);
  BOOST_TEST(published.latency_mean_ms < 0.95 * counted.latency_mean_ms);
}

BOOST_AUTO_TEST_CASE(every_policy_answers_edits_and_others_also_after_deaths) {
  for (const auto& policy : test::every_policy()) {
    auto x = base(policy->name(), 400, 0.02);
    x.workers = 4;
    x.edits = {0.7, 0.19, 0.16, 0.8};
    x.noise = 0.1;
    x.check_every = 53;
    x.faults = {{fault_kind::crash, 3, 1, 0, 2, 1},
                {fault_kind::hang, 5, 30, 3, 1, 1}};
    BOOST_TEST_CONTEXT(policy->name()) {
      const auto out = ran(x);
      BOOST_TEST(out.completed == out.requests);
      BOOST_TEST(out.edits > 240u);
      BOOST_TEST(out.edits < 320u);
    }
  }
}

BOOST_AUTO_TEST_CASE(equal_scenarios_with_edits_have_equal_events) {
  auto x = base("instgenie", 200, 0.02);
  x.workers = 2;
  x.edits = {0.7, 0.19, 0.16, 1};
  const auto a = ran(x);
  BOOST_TEST(a.digest == ran(x).digest);
  x.seed = 2;
  BOOST_TEST(a.digest != ran(x).digest);
}

BOOST_AUTO_TEST_CASE(edits_that_cannot_be_are_told) {
  const auto told = [](runtime::edit_spec edits, const char* part) {
    auto x = base("instgenie", 1, 1);
    x.edits = edits;
    const auto out = runtime::simulate(x);
    BOOST_REQUIRE(!out);
    BOOST_TEST(out.why().text.find(part) != std::string::npos, out.why().text);
  };
  told({1.5, 0.1, 0, 1}, "share of edits, 1.5, is outside 0..1");
  told({1, 0, 0, 1}, "mean masked share, 0, is outside 0.01..0.99");
  told({1, 0.1, 0.5, 1}, "spread of masked shares, 0.5");
  told({1, 0.1, 0.001, 1}, "0.01..0.2990");
  told({1, std::nan(""), 0, 1}, "mean masked share");
  told({1, 0.1, 0.1, -1}, "recorded templates, -1");
}

BOOST_AUTO_TEST_SUITE_END()
