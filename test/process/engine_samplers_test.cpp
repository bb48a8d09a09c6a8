// SPDX-License-Identifier: Apache-2.0

// Requests that start from the work of earlier ones, with a shipped model and
// every sampler.

#include <atelier/core/image/codec.hpp>
#include <atelier/core/samplers.hpp>
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace fs = std::filesystem;

namespace {

constexpr uint32_t steps = 8;
constexpr uint32_t kept = 4;

planning::profile with_reuse() {
  planning::profile p;
  auto v = *planning::parse_variant("tiny@8");
  v.native_px = {128, 128};
  v.step = {{1, 128 * 128, 10ms, 9}};
  v.quality = 0.5;
  p.variants.push_back(v);
  p.reuse.emplace();
  p.reuse->full = core::variant_id{0};
  p.reuse->steps = steps;
  p.reuse->latents = {{kept, 0.9}};
  return p;
}

/// A copy of the shipped model `tiny`. Its own sampler depends on its
/// scheduler's file, so a request that names a sampler uses nothing of earlier
/// requests.
struct fixture {
  fixture() {
    fs::copy(ATELIER_SOURCE_DIR "/models/tiny", model,
             fs::copy_options::recursive);
    folder.write("measured.json", planning::to_json(with_reuse()));
  }

  std::unique_ptr<engine> start(mode how, const core::sampler_row& with) {
    const std::string rest =
      with.matches_flow
        ? R"(", "num_train_timesteps": 1000, "shift": 3.0})"
        : R"(", "num_train_timesteps": 1000, "beta_start": 0.00085,
          "beta_end": 0.012, "beta_schedule": "scaled_linear",
          "prediction_type": "v_prediction", "clip_sample": false,
          "steps_offset": 1})";
    folder.write("model/scheduler/scheduler_config.json",
                 R"({"_class_name": ")" + std::string{with.diffusers} + rest);
    return test::start(
      how,
      {"models=[{name='tiny',path='" + model.string() + "'}]",
       "devices=[{name='cpu:0',executor='torch',threads=1,"
       "variants=['tiny@8']}]",
       "policy.name=nirvana",
       "planner.profile='" + (folder.path / "measured.json").string() + "'",
       "arena.capture_slots=8", "cache.memory_mib=16",
       "scheduler.facts_ms=20000", "processes.restart_first_ms=1",
       "processes.restart_most_ms=10", "scheduler.attempts=1000"});
  }

  test::scratch_folder folder;
  fs::path model = folder.path / "model";
};

generation drawn() {
  generation x;
  x.prompt = "a red circle above a blue star";
  x.width = x.height = 128;
  x.seed = 11;
  // A chosen seed would keep the cache from being read.
  x.cache = "on";
  return x;
}

/// Returns the pixels, because the files differ in their metadata about the
/// cache.
image::bitmap pixels(const generated_image& x) {
  auto out = image::decode(x.bytes);
  BOOST_TEST_REQUIRE(bool{out});
  return *out;
}

generation edited(const core::sampler_row& with) {
  auto x = drawn();
  x.image = test::image_file(128, 128, 5, core::image_format::png);
  // With a small strength a schedule of a few steps has too few left.
  x.strength = 0.75f;
  x.sampler = std::string{with.name};
  return x;
}

/// Repeats a request until it starts from a state, because a share is drawn in
/// full.
generated_image resumed(engine& sut, const generation& x) {
  for (int i = 0; i < 40; ++i) {
    const auto again = test::answers_to(sut, {x});
    const auto& made = test::image_in(again.front());
    if (made.route.starts_with("latent"))
      return made;
  }
  BOOST_FAIL("no answer started from earlier work");
  return {};
}

/// Draws while the device's process is killed at the first reported step.
generated_image drawn_through_a_kill(engine& sut, const generation& x) {
  pid_t victim = 0;
  BOOST_TEST_REQUIRE(test::eventually([&] {
    victim = test::pid_of(sut, "cpu:0");
    return victim > 0 && !sut.status().workers.empty();
  }));
  std::atomic<bool> killed = false;
  callbacks calls;
  calls.progressed = [&](const progress&) {
    if (!killed.exchange(true))
      kill(victim, SIGKILL);
  };
  auto got = sut.submit(x, calls);
  BOOST_TEST_REQUIRE(std::holds_alternative<submission>(got));
  const auto made = std::get<submission>(got).result.get();
  BOOST_TEST(killed);
  return test::image_in(made);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_samplers_test, fixture)

BOOST_AUTO_TEST_CASE(every_sampler_resumes_its_own_state_bit_for_bit) {
  for (const auto& with : core::samplers)
    BOOST_TEST_CONTEXT(with.name) {
      auto sut = start(mode::split, with);
      const auto first = test::answers_to(*sut, {drawn()});
      const auto& undisturbed = test::image_in(first.front());
      BOOST_TEST(undisturbed.sampler == with.name);
      BOOST_TEST(undisturbed.route == "scratch");
      BOOST_TEST(undisturbed.steps_run == steps);
      BOOST_TEST_REQUIRE(test::eventually(
        [&] { return sut->status().cache.value().entries > 0; }));
      const auto again = resumed(*sut, drawn());
      BOOST_TEST(again.steps_run == steps - kept);
      const auto expected_pixels = pixels(undisturbed);
      BOOST_TEST((pixels(again) == expected_pixels));
      for (int i = 0; i < 2; ++i) {
        const auto killed = drawn_through_a_kill(*sut, drawn());
        BOOST_TEST((pixels(killed) == expected_pixels));
      }
      // An edit starts from its own image, not from kept work.
      const auto edit = edited(with);
      const auto once = test::answers_to(*sut, {edit});
      const auto& expected = test::image_in(once.front());
      const auto twice = test::answers_to(*sut, {edit});
      BOOST_TEST((test::image_in(twice.front()).bytes == expected.bytes));
      BOOST_TEST(!test::image_in(twice.front()).route.starts_with("latent"));
      BOOST_TEST((drawn_through_a_kill(*sut, edit).bytes == expected.bytes));
      BOOST_TEST(test::comes_to_rest(*sut));
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_SUITE_END()
