// SPDX-License-Identifier: Apache-2.0

// Routes by the predicted class of a prompt, on a running engine whose host
// says which class a prompt has.

#include <atelier/planning/profile_file.hpp>
#include <atelier/planning/stage.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;

namespace {

/// The class of a prompt is the number of its exclamation marks.
class marks_stage {
public:
  struct work {
    std::string prompt;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.prompt);
    }
  };

  struct done {
    uint32_t marks = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done& x) {
      return f(x.marks);
    }
  };

  marks_stage() {
    row_.name = "marks";
    row_.hook = planning::hook::before_route;
    row_.budget = 60s;
    row_.otherwise = planning::if_failed::fail;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& of) const {
    if (of.known.tolerated)
      return std::nullopt;
    return work{of.wanted.text.positive};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return 1ms;
  }

  core::result<done> run(const work& of, planning::worker_context&) const {
    return done{static_cast<uint32_t>(
      std::count(of.prompt.begin(), of.prompt.end(), '!'))};
  }

  core::result<void> end(const done& x, planning::facts& known) const {
    known.tolerated = {x.marks};
    return {};
  }

private:
  planning::stage_row row_;
};

const std::vector<std::string> ladder{"card@12", "card@6", "card@2"};

/// A ladder of three levels, and a plan that sends each class to its own level.
struct fixture {
  fixture() {
    planning::profile p;
    planning::ladder_profile models;
    models.kind = planning::ladder_kind::smaller_models;
    for (const auto& name : ladder) {
      auto v = *planning::parse_variant(name);
      v.native_px = {64, 64};
      v.step = {{1, 64 * 64, 1ms, 9}};
      models.levels.push_back(
        {core::variant_id{static_cast<uint32_t>(p.variants.size())},
         0,
         0.9 - 0.1 * static_cast<double>(p.variants.size()),
         {}});
      p.variants.push_back(v);
    }
    p.ladders = {models};
    folder.write("measured.json", planning::to_json(p));
    folder.write("plan.json", R"({"format": "atelier.plan", "version": 1,
      "policy": "argus",
      "memory": {"of": "argus", "phase": "models", "first_route": 3,
                 "levels": 3},
      "workers": [{"count": 1, "batch": 1, "join": "single",
                   "hosting": ["card@12", "card@6", "card@2"]}],
      "routes": [
        {"route": 0, "name": "card@12", "stages": [{"any_of": ["card@12"]}]},
        {"route": 1, "name": "card@6", "stages": [{"any_of": ["card@6"]}]},
        {"route": 2, "name": "card@2", "stages": [{"any_of": ["card@2"]}]},
        {"route": 3, "name": "level 0", "stages": [{"any_of": ["card@12"]}]},
        {"route": 4, "name": "level 1", "stages": [{"any_of": ["card@6"]}]},
        {"route": 5, "name": "level 2", "stages": [{"any_of": ["card@2"]}]}],
      "share": [{"3": 1}, {"4": 1}, {"5": 1}]})");
  }

  std::unique_ptr<engine> start(const std::vector<std::string>& more) const {
    auto options = test::options_of(
      test::mode::single,
      {"devices=[{name='cpu:0',executor='test_card',variants=['card@12',"
       "'card@6','card@2'],test_card_step_ms=1}]",
       "planner.profile='" + (folder.path / "measured.json").string() + "'"});
    options.set.insert(options.set.end(), more.begin(), more.end());
    options.extend.stages = {{planning::make_stage(marks_stage{}), "mask"}};
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
