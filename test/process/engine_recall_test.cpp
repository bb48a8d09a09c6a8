// SPDX-License-Identifier: Apache-2.0

// Requests that start from what earlier ones left, on a running engine.

#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <signal.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

constexpr uint32_t steps = 10;
constexpr uint32_t kept = 5;

/// Tables of skips are of 50 steps.
constexpr uint32_t table_steps = 50;

planning::profile with_reuse() {
  planning::profile p;
  auto v = *planning::parse_variant("card@10");
  v.native_px = {64, 64};
  v.step = {{1, 64 * 64, 1ms, 9}};
  v.quality = 0.5;
  p.variants.push_back(v);
  p.reuse.emplace();
  p.reuse->full = core::variant_id{0};
  p.reuse->steps = steps;
  p.reuse->latents = {{kept * table_steps / steps, 0.9}};
  return p;
}

struct fixture {
  fixture() {
    folder.write("measured.json", planning::to_json(with_reuse()));
  }

  std::unique_ptr<engine> start(mode how, std::vector<std::string> more = {}) {
    std::vector<std::string> set{
      "devices=[{name='cpu:0',executor='test_card',variants=['card@10'],"
      "test_card_step_ms=20}]",
      "policy.name='nirvana'",
      "planner.profile='" + (folder.path / "measured.json").string() + "'",
      "arena.capture_slots=8",
      "cache.memory_mib=16",
      "scheduler.facts_ms=2000"};
    set.insert(set.end(), more.begin(), more.end());
    return test::start(how, std::move(set));
  }

  static generation wanted(std::string prompt) {
    generation x;
    x.prompt = std::move(prompt);
    x.width = x.height = 64;
    x.seed = 11;
    return x;
  }

  // Asks again until an answer starts from earlier work: what the first one
  // left is remembered after its answer, and a share starts afresh.
  static picture repeated(engine& sut, const generation& x) {
    for (int i = 0; i < 40; ++i) {
      const auto again = test::answers_to(sut, {x});
      const auto& made = test::picture_in(again.front());
      if (made.route.starts_with("latent"))
        return made;
      std::this_thread::sleep_for(20ms);
    }
    BOOST_FAIL("no answer started from earlier work");
    return {};
  }

  test::scratch_folder folder;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_recall_test, fixture)

BOOST_AUTO_TEST_CASE(a_repeated_prompt_starts_from_its_own_state) {
  for (const auto how : {mode::single, mode::split})
    BOOST_TEST_CONTEXT(how) {
      auto sut = start(how);
      const auto x = wanted("a red ball on a table");
      const auto first = test::answers_to(*sut, {x});
      const auto& undisturbed = test::picture_in(first.front());
      BOOST_TEST(undisturbed.route == "scratch");
      BOOST_TEST(undisturbed.steps_run == steps);
      const auto again = repeated(*sut, x);
      BOOST_TEST(again.steps_run == steps - kept);
      BOOST_TEST((again.bytes == undisturbed.bytes));
      // Another text finds nothing.
      const auto other =
        test::answers_to(*sut, {wanted("some blue cubes under water")});
      BOOST_TEST(test::picture_in(other.front()).route == "scratch");
      BOOST_TEST(test::comes_to_rest(*sut));
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(a_device_that_is_killed_changes_nothing_of_it) {
  auto sut = start(mode::split);
  const auto x = wanted("a red ball on a table");
  const auto first = test::answers_to(*sut, {x});
  const auto& undisturbed = test::picture_in(first.front());
  repeated(*sut, x);
  for (int i = 0; i < 3; ++i) {
    auto running = test::hand_in(*sut, x);
    std::this_thread::sleep_for(50ms);
    if (const auto pid = test::pid_of(*sut, "cpu:0"); pid > 0)
      kill(pid, SIGKILL);
    const auto made = test::await(running);
    BOOST_TEST((test::picture_in(made).bytes == undisturbed.bytes));
  }
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(remembering_needs_slots_to_remember_through) {
  auto options = test::options_of(
    mode::single, {"cache.memory_mib=16", "arena.capture_slots=0"});
  const auto made = engine::start(options);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(made));
  BOOST_TEST(std::get<failure>(made).text.find("arena.capture_slots")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
