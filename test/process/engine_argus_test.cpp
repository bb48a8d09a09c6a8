// SPDX-License-Identifier: Apache-2.0

// Routes by the predicted class of a prompt, on a running engine whose host
// says which class a prompt has.

#include <atelier/planning/profile_file.hpp>
#include <atelier/planning/stage.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <process/ladder_plan.hpp>
#include <support/told_stage.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;

namespace {

/// Says that the class of a prompt is the number of its exclamation marks.
planning::stage_ptr marks_stage() {
  test::told_stage::script says;
  says.begin =
    [](const planning::row_view& of) -> std::optional<test::told_stage::work> {
    if (of.known.tolerated)
      return std::nullopt;
    return test::told_stage::work{
      static_cast<uint64_t>(std::ranges::count(of.wanted.text.positive, '!'))};
  };
  says.run =
    [](const test::told_stage::work& x,
       planning::worker_context&) -> core::result<test::told_stage::done> {
    return test::told_stage::done{x.about};
  };
  says.end = [](const test::told_stage::done& x,
                planning::facts& known) -> core::result<void> {
    known.tolerated = {static_cast<uint32_t>(x.found)};
    return {};
  };
  says.takes = 1ms;
  return test::told("marks", planning::hook::before_route,
                    planning::if_failed::fail, {}, std::move(says),
                    planning::place::cpu_pool, 60s);
}

const std::vector<std::string> ladder{"card@12", "card@6", "card@2"};

/// A ladder of three levels, and a plan that sends each class to its own level.
struct fixture {
  fixture() {
    folder.write("measured.json", planning::to_json(test::with_ladder(ladder)));
    folder.write("plan.json", test::plan_by_class(ladder));
  }

  std::unique_ptr<engine> start(const std::vector<std::string>& more) const {
    auto options = test::options_of(
      test::mode::single,
      {"devices=[{name='cpu:0',executor='test_card',variants=['card@12',"
       "'card@6','card@2'],test_card_step_ms=1}]",
       "planner.profile='" + (folder.path / "measured.json").string() + "'"});
    options.set.insert(options.set.end(), more.begin(), more.end());
    options.extend.stages = {{marks_stage(), "mask"}};
    return test::start(options);
  }

  static generation prompt(size_t marks) {
    generation x;
    x.prompt = "a card" + std::string(marks, '!');
    x.width = x.height = 64;
    return x;
  }

  test::scratch_folder folder;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_argus_test, fixture)

BOOST_AUTO_TEST_CASE(a_prompts_class_decides_its_level) {
  auto sut =
    start({"policy.name=fixed",
           "planner.plan='" + (folder.path / "plan.json").string() + "'"});
  std::vector<generation> all;
  for (size_t i = 0; i < 12; ++i)
    all.push_back(prompt(i % ladder.size()));
  const auto answers = test::answers_to(*sut, all);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& x = test::image_in(answers[i]);
    const auto level = i % ladder.size();
    BOOST_TEST(x.variant == ladder[level]);
    BOOST_TEST(x.route == "level " + std::to_string(level));
    BOOST_TEST_REQUIRE(x.prompt_class.size() == 1u);
    BOOST_TEST(x.prompt_class.front().level == level);
  }
  BOOST_TEST(sut->stop(10s));
}

// Without a load, nothing is approximated, whatever a prompt would tolerate.
BOOST_AUTO_TEST_CASE(without_a_load_every_class_is_drawn_in_full) {
  auto sut = start({"policy.name=argus"});
  for (size_t i = 0; i < ladder.size(); ++i) {
    const auto answers = test::answers_to(*sut, {prompt(i)});
    BOOST_TEST(test::image_in(answers.front()).variant == ladder.front());
  }
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_SUITE_END()
