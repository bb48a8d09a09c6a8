// SPDX-License-Identifier: Apache-2.0

// Whether a simulation shares the steps of a device among rows as a running
// engine does.

#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/simulation/simulate.hpp>

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;

namespace {

/// The levels of one model, by their steps, and the requests for each.
constexpr std::array levels{25u, 10u, 4u};
constexpr uint32_t each = 24;
constexpr uint32_t most_rows = 8;
constexpr auto step = 10ms;

std::string level_name(uint32_t steps) {
  return "card@" + std::to_string(steps);
}

/// Returns how often a running engine's device steps for all requests at once.
uint64_t steps_of_engine() {
  std::string variants;
  for (const auto steps : levels)
    variants += (variants.empty() ? "'" : ",'") + level_name(steps) + "'";
  const auto sut =
    test::start(test::mode::single,
                {"devices=[{name='cpu:0',executor='test_card',variants=["
                   + variants + "],max_batch=8,seats=16,test_card_step_ms=10}]",
                 "policy.name=\"vanilla\"", "arena.state_slots=64",
                 "arena.image_slots=64"});
  std::vector<generation> wanted;
  for (uint32_t i = 0; i < each * levels.size(); ++i) {
    auto& x = wanted.emplace_back();
    x.prompt = "a row";
    x.variant = level_name(levels[i % levels.size()]);
    x.width = x.height = 64;
    x.seed = i;
  }
  for (const auto& x : test::answers_to(*sut, wanted))
    test::image_in(x);
  const auto by_rows = sut->status().batches;
  return std::accumulate(by_rows.begin(), by_rows.end(), uint64_t{0});
}

/// Returns how often the device of a simulation steps for the same requests.
double steps_of_simulation() {
  auto known = std::make_shared<planning::profile>();
  for (const auto steps : levels) {
    auto& v = known->variants.emplace_back();
    v.model = "card";
    v.steps = steps;
    v.name = level_name(steps);
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, step}, {most_rows, 64 * 64, step}};
    v.load = 130ms;
  }
  runtime::scenario x;
  x.profile = known;
  x.policy = *planning::make_policy("vanilla");
  x.workers = 1;
  x.max_batch = most_rows;
  for (uint32_t i = 0; i < each * levels.size(); ++i) {
    planning::traced_arrival one{0, i};
    one.variant = static_cast<uint32_t>(i % levels.size());
    x.trace.push_back(one);
  }
  const auto out = runtime::simulate(x);
  BOOST_TEST_REQUIRE(out.operator bool());
  BOOST_TEST(out->completed == out->requests);
  return static_cast<double>(out->completed) / out->throughput_qps
       / core::to_seconds(step);
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_simulated_test)

BOOST_AUTO_TEST_CASE(levels_of_a_model_take_as_many_steps_as_in_a_simulation) {
  const auto simulated = steps_of_simulation();
  uint64_t live = 0;
  // Rows may come too late for a step while the machine is busy.
  const bool alike = test::eventually(
    [&] {
      live = steps_of_engine();
      const auto ratio = simulated / static_cast<double>(live);
      return ratio > 0.9 && ratio < 1.1;
    },
    30s);
  BOOST_TEST(alike, "the engine's device stepped "
                      << live << " times, a simulation's " << simulated
                      << " times");
}

BOOST_AUTO_TEST_SUITE_END()
