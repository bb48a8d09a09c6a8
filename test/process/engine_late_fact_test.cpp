// SPDX-License-Identifier: Apache-2.0

// A fact that arrives too late, on a running engine.

#include <atelier/planning/stage.hpp>

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

using namespace atelier;
using namespace std::chrono_literals;

namespace {

/// Handles every prompt before its route, and returns only when the test
/// permits it.
class slow_look {
public:
  struct work {
    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work&) {
      return f();
    }
  };

  struct done {
    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done&) {
      return f();
    }
  };

  explicit slow_look(std::shared_future<void> may) : may_(std::move(may)) {
    row_.name = "look";
    row_.hook = planning::hook::before_route;
    row_.budget = 1ms;
    row_.otherwise = planning::if_failed::go_on;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view&) const {
    return work{};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return 1ms;
  }

  core::result<done> run(const work&, planning::worker_context&) const {
    may_.wait();
    return done{};
  }

  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  std::shared_future<void> may_;
  planning::stage_row row_;
};

generation late_card() {
  generation x;
  x.prompt = "card";
  x.width = x.height = 64;
  x.seed = 3;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_late_fact_test)

BOOST_AUTO_TEST_CASE(a_fact_that_is_late_is_gone_on_without_and_named) {
  std::promise<void> answered;
  auto options = test::options_of(test::mode::single);
  options.extend.stages = {
    {planning::make_stage(slow_look{answered.get_future().share()}), "mask"}};
  auto sut = test::start(options);
  // Even after a failure, the stage's worker waits no longer than the engine
  // lives.
  auto over = std::move(answered);
  const auto answers = test::answers_to(*sut, {late_card()});
  test::image_in(answers.front());
  const auto all = sut->status().stages;
  over.set_value();
  for (const auto& x : all)
    BOOST_TEST(x.left_out == (x.name == "look" ? 1u : 0u), x.name);
  BOOST_TEST(std::any_of(all.begin(), all.end(),
                         [](const auto& x) { return x.name == "look"; }));
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_SUITE_END()
