// SPDX-License-Identifier: Apache-2.0

// A host's own stages in virtual time.

#include "simulation/ran.hpp"
#include <atelier/planning/policies/vanilla/vanilla.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/simulation/simulate.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using planning::access;
using planning::held;
using planning::hook;
using planning::if_failed;
using runtime::scenario;
using test::ran;

/// The body of the orders and replies of the host's stages.
struct numbered {
  uint64_t number = 0;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, numbered& x) {
    return f(x.number);
  }
};

/// Checks each image before the answer for two seconds, and refuses that of one
/// seed.
class slow_check {
public:
  static constexpr uint64_t refused = 7;

  using work = numbered;
  using done = numbered;

  explicit slow_check(core::timespan takes) : takes_(takes) {
    row_.name = "slow check";
    row_.hook = hook::before_answer;
    row_.slots = uses;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& of) const {
    return work{of.wanted.seed};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return takes_;
  }

  core::result<done> run(const work& x, planning::worker_context& here) const {
    if (!here.slots.view(here.reads[held::pixels]))
      return core::fail(core::ec::internal, "there is no image");
    if (x.number == refused)
      return core::fail(core::ec::bad_payload, "the image is not safe");
    return done{x.number};
  }

  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  static constexpr std::array uses{
    planning::slot_use{held::pixels, access::reads}};

  core::timespan takes_;
  planning::stage_row row_;
};

/// Reads each prompt before the route for two seconds. Prompts with even seeds
/// tolerate the second variant. One seed is refused.
class slow_reader {
public:
  static constexpr uint64_t refused = 7;

  using work = numbered;
  using done = numbered;

  slow_reader() {
    row_.name = "slow reader";
    row_.hook = hook::before_route;
    row_.otherwise = if_failed::fail;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& of) const {
    return work{of.wanted.seed};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return 2s;
  }

  core::result<done> run(const work& x, planning::worker_context&) const {
    if (x.number == refused)
      return core::fail(core::ec::bad_payload, "the prompt is not safe");
    return done{x.number % 2 == 0 ? 1u : 0u};
  }

  core::result<void> end(const done& x, planning::facts& known) const {
    known.tolerated = std::vector{static_cast<uint32_t>(x.number)};
    return {};
  }

private:
  planning::stage_row row_;
};

/// Draws with the variant that a prompt tolerates.
struct tolerant : planning::vanilla {
  planning::choice choose(const planning::decision_context& by) const override {
    const auto& level = by.known.tolerated;
    return planning::go{core::route_id{level ? level->front() : 0u}};
  }
};

/// Returns two variants of 0.1 s. The second is half as good.
std::shared_ptr<planning::profile> two_variants() {
  auto p = std::make_shared<planning::profile>();
  for (const double quality : {1.0, 0.5}) {
    planning::variant_profile v;
    v.model = quality == 1 ? "good" : "poor";
    v.steps = 1;
    v.name = v.model + "@1";
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, 100ms}};
    v.quality = quality;
    p->variants.push_back(v);
  }
  return p;
}

/// Returns a scenario of ten requests, five seconds apart.
scenario calm() {
  scenario x;
  x.profile = two_variants();
  x.policy = *planning::make_policy("vanilla");
  for (size_t i = 0; i < 10; ++i)
    x.trace.push_back({5.0 * static_cast<double>(i + 1), i});
  x.workers = 1;
  x.check_every = 97;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(host_stages)

BOOST_AUTO_TEST_CASE(a_stage_before_the_answer_takes_its_time_and_may_refuse) {
  auto x = calm();
  const auto without = ran(x);
  BOOST_TEST(without.completed == 10u);
  x.stages = {{planning::make_stage(slow_check{2s}), "denoise"}};
  const auto with = ran(x);
  BOOST_TEST(with.completed == 9u);
  BOOST_TEST(with.dropped == 1u);
  const auto tolerance = boost::test_tools::tolerance(1e-6);
  BOOST_TEST(with.latency_mean_ms == without.latency_mean_ms + 2000, tolerance);
}

BOOST_AUTO_TEST_CASE(a_stage_before_the_route_takes_its_time_and_tells_facts) {
  auto x = calm();
  x.policy = std::make_shared<tolerant>();
  const auto without = ran(x);
  BOOST_TEST(without.completed == 10u);
  BOOST_TEST(without.quality_mean == 1.0);
  x.stages = {{planning::make_stage(slow_reader{}), "classify"}};
  const auto with = ran(x);
  BOOST_TEST(with.completed == 9u);
  BOOST_TEST(with.dropped == 1u);
  const auto tolerance = boost::test_tools::tolerance(1e-6);
  // The worker loads the second variant on its first request, which takes a few
  // milliseconds.
  const auto later = with.latency_mean_ms - without.latency_mean_ms;
  BOOST_TEST(later >= 2000);
  BOOST_TEST(later < 2010);
  // Five of nine prompts tolerate half the quality.
  BOOST_TEST(with.quality_mean == (4 + 5 * 0.5) / 9, tolerance);
}

BOOST_AUTO_TEST_CASE(a_measured_stage_takes_what_was_measured) {
  auto x = calm();
  x.stages = {{planning::make_stage(slow_check{2s}), "denoise"}};
  const auto without = ran(x);
  const auto costs = std::make_shared<planning::profile>(*x.profile);
  costs->stages = {{"slow check", 500ms, 1000s}};
  x.profile = costs;
  const auto with = ran(x);
  const auto tolerance = boost::test_tools::tolerance(1e-6);
  // 64 x 64 pixels take 4.096 s more.
  BOOST_TEST(with.latency_mean_ms == without.latency_mean_ms + 2596, tolerance);
  // It is the only one that is measured.
  costs->stages = {{"slow chick", 500ms}};
  const auto refused = runtime::simulate(x);
  BOOST_TEST_REQUIRE(!refused);
  BOOST_TEST((refused.why().code == core::ec::invalid_argument));
  BOOST_TEST(refused.why().text
             == "the profile: stages.slow chick: there is no stage "
                "'slow chick'");
}

BOOST_AUTO_TEST_CASE(stages_that_cannot_run_are_refused) {
  auto x = calm();
  const auto refused = [&](std::string_view with) {
    const auto out = runtime::simulate(x);
    BOOST_TEST_REQUIRE(!out);
    BOOST_TEST((out.why().code == core::ec::invalid_argument
                || out.why().code == core::ec::bad_config));
    BOOST_TEST(out.why().text.find(with) != std::string::npos, out.why().text);
  };
  x.stages = {{planning::make_stage(slow_check{1s}), "polish"}};
  refused("'polish'");
  x.stages = {{nullptr, {}}};
  refused("null");
}

BOOST_AUTO_TEST_SUITE_END()
