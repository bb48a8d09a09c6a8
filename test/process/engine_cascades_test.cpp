// SPDX-License-Identifier: Apache-2.0
// Cascades over several devices, with guessed costs.
#include <atelier/bench/papers/policies/paper_policies.hpp>
#include <atelier/planning/comparisons.hpp>
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;
using test::mode;

namespace {

/// The evaluation of two variants of the test card, and a folder that contains
/// their judge.
struct fixture {
  fixture() {
    planning::profile p;
    for (const auto& [name, quality] :
         {std::pair{light, 0.5}, std::pair{heavy, 0.75}}) {
      auto v = *planning::parse_variant(name);
      v.native_px = {64, 64};
      v.step = {{1, 64 * 64, 1ms, 9}};
      v.quality = quality;
      p.variants.push_back(v);
    }
    planning::cascade_profile c;
    c.light = core::variant_id{0};
    c.heavy = core::variant_id{1};
    c.judge = "critic";
    c.deadline = 100ms;
    // The test card's judge is equally sure of all cards.
    for (int i = 0; i <= 20; ++i)
      c.deferred.emplace_back(i / 20.0, i / 20.0);
    p.cascades.push_back(c);
    evaluated = std::move(p);
    std::filesystem::create_directories(folder.path / "critic");
    folder.write("critic/config.json", "{}");
  }

  /// Starts an engine with two such devices; a heavy image takes a second. `of`
  /// is the setting that names the evaluation. With "profile" the engine uses
  /// its times, too.
  std::unique_ptr<engine> start(const std::string& policy,
                                const std::string& of = "quality") {
    folder.write("quality.json", planning::to_json(evaluated));
    const auto device = [&](int i) {
      return "{name='cpu:" + std::to_string(i)
           + "',executor='test_card',variants=['" + light + "','" + heavy
           + "'],max_batch=1,test_card_step_ms=50}";
    };
    std::vector<std::string> settings{
      "devices=[" + device(0) + "," + device(1) + "]",
      "policy.name='" + policy + "'",
      "policy.judges='" + folder.path.string() + "'",
      "planner." + of + "='" + (folder.path / "quality.json").string() + "'",
      "planner.period_s=0.5",
      "monitor.window_s=1"};
    settings.insert(settings.end(), more.begin(), more.end());
    auto options = test::options_of(mode::single, std::move(settings));
    if (planning::is_for_comparisons(policy))
      options.extend.policies = papers::paper_policies();
    return test::start(options);
  }

  static generation wanted(uint64_t seed) {
    generation x;
    x.prompt = "a";
    x.width = x.height = 64;
    x.seed = seed;
    return x;
  }

  /// Returns the share of the first class that goes through cascades.
  static double cascaded(const engine_status& s) {
    double sum = 0;
    for (const auto& r : s.routes)
      if (r.stages.size() > 1 && !r.shares.empty())
        sum += r.shares.front();
    return sum;
  }

  static inline const std::string light = "light@2";
  static inline const std::string heavy = "heavy@20";
  const test::scratch_folder folder;
  planning::profile evaluated;
  /// Settings that `start` adds.
  std::vector<std::string> more;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_cascades_test, fixture)

BOOST_AUTO_TEST_CASE(a_cascade_is_planned_over_two_devices_of_a_kind) {
  // A mix is worth more than either variant by itself.
  evaluated.cascades[0].fid = {{0, 20}, {0.5, 10}, {1, 30}};
  evaluated.cascades[0].deadline = 10s;
  auto sut = start("atelier");
  // One heavy device has time for this load. No request has arrived yet.
  BOOST_TEST(eventually([&] { return cascaded(sut->status()) > 0.5; }));
  const auto s = sut->status();
  BOOST_TEST_REQUIRE(s.workers.size() == 2u);
  // The order is that of their arrival.
  BOOST_TEST((std::set{s.workers[0].device, s.workers[1].device}
              == std::set<std::string>{"cpu:0", "cpu:1"}));
  // The status shows the planned share that passes each gate.
  BOOST_TEST_REQUIRE(s.deferred.size() == s.thresholds.size());
  for (const auto& r : s.routes) {
    BOOST_TEST(r.threshold.has_value() == (r.stages.size() > 1));
    if (r.threshold) {
      BOOST_TEST_REQUIRE(*r.threshold < s.deferred.size());
      BOOST_TEST(s.deferred[*r.threshold] > 0);
      BOOST_TEST(s.deferred[*r.threshold] < 1);
    }
  }
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_cascade_of_guessed_costs_defers_as_planned) {
  // Two devices are too few for only heavy images, and one is enough for light
  // ones. By the guess neither could be in time.
  constexpr auto pause = 220ms;
  auto sut = start("diffserve");
  std::vector<test::in_flight> all;
  const auto submit = [&] {
    all.push_back(test::hand_in(*sut, wanted(all.size() + 1)));
    std::this_thread::sleep_for(pause);
  };
  const auto planned = [&] {
    const auto s = sut->status();
    return s.thresholds.size() == 1 && s.thresholds[0] < 1 && cascaded(s) == 1
        && s.deferred.size() == 1 && s.deferred[0] < 1;
  };
  for (int i = 0; i < 60 && !planned(); ++i)
    submit();
  BOOST_TEST_REQUIRE(planned());
  const auto first = all.size();
  const auto version = sut->status().plan_version;
  for (int i = 0; i < 10; ++i)
    submit();
  size_t deferred = 0;
  size_t judged = 0;
  for (size_t i = first; i < all.size(); ++i) {
    const auto made = test::await(all[i]);
    const auto& p = test::image_in(made);
    BOOST_TEST((p.variant == light || p.variant == heavy));
    judged += p.route == "cascade" ? 1u : 0u;
    deferred += p.variant == heavy ? 1u : 0u;
  }
  BOOST_TEST(judged > 0u);
  BOOST_TEST(sut->status().plan_version >= version);
  BOOST_TEST(deferred < judged);
  BOOST_TEST(sut->status().figure("judge_failures") == 0u);
  BOOST_TEST(sut->stop(30s));
}

BOOST_AUTO_TEST_CASE(a_plan_follows_what_steps_take) {
  // By the profile heavy images take 20 ms each, so all can be heavy.
  evaluated.cascades[0].deadline = 5s;
  auto sut = start("diffserve", "profile");
  BOOST_TEST(eventually([&] { return sut->status().workers.size() == 2; }));
  // A plan for only one of them may come first.
  BOOST_TEST(eventually(
    [&] { return sut->status().thresholds == std::vector<double>{1}; }));
  // In fact they take a second, and two devices are too few for the load.
  constexpr auto pause = 220ms;
  std::vector<test::in_flight> all;
  const auto follows = [&] {
    const auto s = sut->status();
    return s.thresholds.size() == 1 && s.thresholds[0] < 1;
  };
  for (int i = 0; i < 90 && !follows(); ++i) {
    all.push_back(test::hand_in(*sut, wanted(all.size() + 1)));
    std::this_thread::sleep_for(pause);
  }
  BOOST_TEST(follows());
  // The status contains the measurements as a profile that other programs can
  // plan with.
  const auto told =
    planning::parse_profile(*sut->status().profiles.at(0).text, "told");
  BOOST_TEST_REQUIRE(bool(told));
  BOOST_TEST_REQUIRE(told->variants.size() == 2u);
  BOOST_TEST((told->variants[1].step.front().took > 40ms));
  for (auto& x : all)
    BOOST_TEST(!test::image_in(test::await(x)).variant.empty());
  BOOST_TEST(sut->stop(30s));
}

BOOST_AUTO_TEST_CASE(a_request_without_a_deadline_has_the_profiles) {
  // A heavy image takes a second, and the plan defers every light one.
  for (auto& v : evaluated.variants)
    v.step.front().took = 50ms;
  evaluated.cascades[0].deadline = 700ms;
  folder.write("plan.json", R"({"format": "atelier.plan", "version": 1,
    "policy": "diffserve", "memory": {"of": "diffserve"},
    "workers": [{"count": 2, "batch": 1, "hosting": ["light@2", "heavy@20"]}],
    "routes": [{"route": 0, "name": "light@2",
                "stages": [{"any_of": ["light@2"]}]},
               {"route": 1, "name": "heavy@20",
                "stages": [{"any_of": ["heavy@20"]}]},
               {"route": 2, "name": "cascade", "late": "answer_best",
                "stages": [{"any_of": ["light@2"],
                            "gate": {"judge": "critic", "threshold": 0}},
                           {"any_of": ["heavy@20"]}]}],
    "share": [{"2": 1}], "thresholds": [1]})");
  more = {"planner.plan='" + (folder.path / "plan.json").string() + "'"};
  const auto drawn_by = [&] {
    auto sut = start("fixed", "profile");
    const auto made = test::answers_to(*sut, {wanted(1)})[0];
    BOOST_TEST(sut->stop(10s));
    return test::code_of(made) == "" ? test::image_in(made).variant : "";
  };
  BOOST_TEST(drawn_by() == heavy);
  more.emplace_back("policy.deadline=profile");
  // On a busy machine a light image may be late, too.
  BOOST_TEST(eventually([&] { return drawn_by() == light; }));
}

BOOST_AUTO_TEST_CASE(a_deadline_that_no_profile_has_ends_the_start) {
  auto options = test::options_of(
    mode::single, {"devices=[{name='cpu:0',executor='test_card'}]",
                   "policy.deadline=profile"});
  auto started = engine::start(options);
  const auto* why = std::get_if<failure>(&started);
  BOOST_TEST_REQUIRE(why != nullptr);
  BOOST_TEST(why->code == "bad_config");
  BOOST_TEST(why->text.find("policy.deadline") != std::string::npos, why->text);
}

BOOST_AUTO_TEST_CASE(a_deadline_that_no_image_meets_is_told) {
  // A light image takes two steps.
  for (auto& v : evaluated.variants)
    v.step.front().took = 50ms;
  evaluated.cascades[0].deadline = 40ms;
  auto sut = start("diffserve", "profile");
  BOOST_TEST(eventually([&] { return !sut->status().infeasible.empty(); }));
  const auto why = sut->status().infeasible;
  BOOST_TEST(why.find("deadline_ms 40") != std::string::npos, why);
  BOOST_TEST(why.find("one image by 'cascade'") != std::string::npos, why);
  BOOST_TEST(sut->stop(10s));
  // A plan by guesses calls nothing impossible.
  sut = start("diffserve");
  BOOST_TEST(eventually([&] {
    const auto s = sut->status();
    return s.plan_version > 0 && s.workers.size() == 2 && !s.routes.empty();
  }));
  BOOST_TEST(sut->status().infeasible == "");
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(what_no_judge_can_judge_is_drawn_by_the_heavy_variant) {
  // Its judge differs from that of the folder.
  auto sut = start("score-cascade");
  BOOST_TEST_REQUIRE(eventually([&] { return cascaded(sut->status()) == 1; }));
  std::vector<generation> all;
  for (uint64_t i = 1; i <= 3; ++i)
    all.push_back(wanted(i));
  for (const auto& made : test::answers_to(*sut, all))
    BOOST_TEST(test::image_in(made).variant == heavy);
  BOOST_TEST(sut->status().figure("judge_failures") == 3u);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_SUITE_END()
