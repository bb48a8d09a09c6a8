// SPDX-License-Identifier: Apache-2.0
// Cascades whose images a network judges.
#include <atelier/planning/profile_file.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <gpu/models/tiny_model.hpp>
#include <process/engine_fixture.hpp>
#include <process/judge_folder.hpp>

#include <fstream>
#include <string>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

const auto modes = boost::unit_test::data::make({mode::single, mode::split});

/// A tiny model, its judge, and plans that gate the model by the judge.
struct fixture : test::tiny_folder {
  fixture() {
    write_at("scheduler/scheduler_config.json",
             R"({"_class_name": "DDIMScheduler", "num_train_timesteps": 100,
             "beta_start": 0.00085, "beta_end": 0.012, "clip_sample": false,
             "beta_schedule": "scaled_linear", "steps_offset": 1})");
    std::filesystem::create_directories(path / "judges");
    test::write_judge(path / "judges" / "critic");
    planning::profile p;
    for (const auto* name : {light, heavy}) {
      auto v = *planning::parse_variant(name);
      v.native_px = {32, 32};
      v.step = {{1, 32 * 32, 1ms, 9}};
      p.variants.push_back(v);
    }
    planning::cascade_profile c;
    c.light = core::variant_id{0};
    c.heavy = core::variant_id{1};
    c.judge = "critic";
    c.deadline = 60s;
    c.deferred = {{0, 0}, {1, 1}};
    p.cascades.push_back(c);
    std::ofstream{path / "quality.json"} << planning::to_json(p);
  }

  /// Starts an engine whose gate passes scores of at least `threshold`.
  std::unique_ptr<engine> start(mode how, const std::string& threshold) {
    std::ofstream{path / "plan.json"} << R"({"format": "atelier.plan",
      "version": 1, "policy": "diffserve", "memory": {"of": "diffserve"},
      "workers": [{"count": 1, "batch": 1, "hosting": ["tiny@2", "tiny@8"]}],
      "routes": [{"route": 0, "name": "tiny@2",
                  "stages": [{"any_of": ["tiny@2"]}]},
                 {"route": 1, "name": "tiny@8",
                  "stages": [{"any_of": ["tiny@8"]}]},
                 {"route": 2, "name": "cascade",
                  "stages": [{"any_of": ["tiny@2"],
                              "gate": {"judge": "critic", "threshold": 0}},
                             {"any_of": ["tiny@8"]}]}],
      "share": [{"2": 1}], "thresholds": [)"
                                      << threshold << "]}";
    return test::start(
      how, {"models=[{name='tiny',path='" + path.string() + "'}]",
            "devices=[{name='cpu:0',executor='torch',threads=1,"
            "variants=['tiny@2','tiny@8']}]",
            "policy.name='fixed'",
            "policy.judges='" + (path / "judges").string() + "'",
            "planner.quality='" + (path / "quality.json").string() + "'",
            "planner.plan='" + (path / "plan.json").string() + "'"});
  }

  static constexpr const char* light = "tiny@2";
  static constexpr const char* heavy = "tiny@8";
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_judges_test, fixture)

BOOST_DATA_TEST_CASE(a_gate_lets_pass_what_its_judge_is_sure_of, modes, how) {
  const auto drawn = [&](const std::string& threshold, const char* by,
                         uint32_t steps) {
    auto sut = start(how, threshold);
    std::vector<generation> all;
    for (uint64_t i = 1; i <= 3; ++i) {
      generation x;
      x.prompt = "a red circle";
      x.width = x.height = 32;
      x.seed = i;
      all.push_back(x);
    }
    for (const auto& made : test::answers_to(*sut, all)) {
      const auto& p = test::image_in(made);
      BOOST_TEST(p.route == "cascade");
      BOOST_TEST(p.variant == by, "threshold " << threshold);
      BOOST_TEST(p.steps_run == steps);
    }
    BOOST_TEST(sut->status().figure("judge_failures") == 0u);
    BOOST_TEST(sut->stop(10s));
  };
  // A confidence is between both thresholds.
  drawn("0", light, 2);
  drawn("1", heavy, 10);
}

BOOST_AUTO_TEST_SUITE_END()
