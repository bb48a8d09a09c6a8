// SPDX-License-Identifier: Apache-2.0

// Stages of a host's own on the path of a running engine's requests.

#include <atelier/planning/stage.hpp>

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using planning::held;

namespace {

/// Looks at every image before it is encoded: refuses those of one seed, and
/// throws at those of another.
class safety_check {
public:
  static constexpr uint64_t unsafe = 5;
  static constexpr uint64_t broken = 6;

  struct work {
    uint64_t seed = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.seed);
    }
  };

  struct done {
    uint64_t bytes = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.bytes);
    }
  };

  explicit safety_check(std::shared_ptr<std::atomic<int>> seen)
    : seen_(std::move(seen)) {
    row_.name = "safety";
    row_.at = planning::hook::before_answer;
    row_.slots = uses;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& row) const {
    return work{row.wanted.seed};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return 1ms;
  }

  core::result<done> run(const work& x, planning::worker_context& here) const {
    const auto pixels = here.slots.view(here.at[held::pixels]);
    if (!pixels)
      return pixels.why();
    ++*seen_;
    if (x.seed == broken)
      throw std::runtime_error{"no model"};
    if (x.seed == unsafe)
      return core::fail(core::ec::bad_payload, "the image is not safe");
    here.notes.push_back({core::note_code::prompt_syntax, "looked at"});
    return done{pixels->size()};
  }

  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  static constexpr std::array uses{
    planning::slot_use{held::pixels, planning::access::reads}};

  std::shared_ptr<std::atomic<int>> seen_;
  planning::stage_row row_;
};

/// Looks at every prompt before its route, and says nothing until it may.
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
    row_.at = planning::hook::before_route;
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

generation wanted(uint64_t seed) {
  generation x;
  x.prompt = "card";
  x.width = x.height = 64;
  x.seed = seed;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_host_stage_test)

BOOST_AUTO_TEST_CASE(a_hosts_safety_check_fails_the_requests_that_it_refuses) {
  const auto seen = std::make_shared<std::atomic<int>>(0);
  auto options = test::options_of(test::mode::single);
  options.stages = {{planning::make_stage(safety_check{seen}), "denoise"}};
  auto sut = test::start(options);
  std::vector<generation> all;
  for (uint64_t seed = 3; seed < 9; ++seed)
    all.push_back(wanted(seed));
  const auto answers = test::answers_to(*sut, all);
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto seed = all[i].seed.value_or(0);
    if (seed == safety_check::unsafe) {
      BOOST_TEST(test::code_of(answers[i]) == "bad_payload");
    } else if (seed == safety_check::broken) {
      BOOST_TEST(test::code_of(answers[i]) == "internal");
    } else {
      const auto& notes = test::picture_in(answers[i]).notes;
      BOOST_TEST(std::any_of(notes.begin(), notes.end(), [](const auto& x) {
        return x.text == "looked at";
      }));
    }
  }
  BOOST_TEST(*seen == 6);
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_fact_that_is_late_is_gone_on_without_and_named) {
  std::promise<void> answered;
  auto options = test::options_of(test::mode::single);
  options.stages = {
    {planning::make_stage(slow_look{answered.get_future().share()}), "mask"}};
  auto sut = test::start(options);
  // Whatever fails, the stage's worker waits no longer than the engine lives.
  auto over = std::move(answered);
  const auto answers = test::answers_to(*sut, {wanted(3)});
  test::picture_in(answers.front());
  const auto all = sut->status().stages;
  over.set_value();
  for (const auto& x : all)
    BOOST_TEST(x.left_out == (x.name == "look" ? 1u : 0u), x.name);
  BOOST_TEST(std::any_of(all.begin(), all.end(),
                         [](const auto& x) { return x.name == "look"; }));
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_hosts_stage_is_refused_where_its_code_is_not) {
  auto options = test::options_of(test::mode::split);
  options.stages = {
    {planning::make_stage(safety_check{std::make_shared<std::atomic<int>>(0)}),
     "denoise"}};
  const auto made = engine::start(options);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(made));
  BOOST_TEST(std::get<failure>(made).text.starts_with("processes.mode: "));
}

BOOST_AUTO_TEST_CASE(a_stage_that_stands_nowhere_is_refused_by_name) {
  auto options = test::options_of(test::mode::single);
  options.stages = {
    {planning::make_stage(safety_check{std::make_shared<std::atomic<int>>(0)}),
     "polish"}};
  const auto made = engine::start(options);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(made));
  BOOST_TEST(std::get<failure>(made).text.find("'polish'")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
