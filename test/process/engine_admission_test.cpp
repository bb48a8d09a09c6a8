// SPDX-License-Identifier: Apache-2.0
// Admission by the plan in force.
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <cmath>
#include <string>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;
using test::mode;

namespace {

/// One device with test cards of a large and a small variant.
struct fixture {
  /// Starts an engine. A step of 64x64 takes `told` in the profile. The card
  /// takes `takes` for every size.
  std::unique_ptr<engine> start(std::chrono::milliseconds told,
                                std::chrono::milliseconds takes) {
    planning::profile p;
    planning::ladder_profile ladder;
    ladder.kind = planning::ladder_kind::smaller_models;
    for (const auto& [name, quality] :
         {std::pair{"large@10", 1.0}, std::pair{"small@5", 0.8}}) {
      auto v = *planning::parse_variant(name);
      v.step = {{1, 64 * 64, told, 9}, {3, 64 * 64, told, 9}};
      v.quality = quality;
      planning::level_profile level;
      level.variant =
        core::variant_id{static_cast<uint32_t>(p.variants.size())};
      level.quality = quality;
      ladder.levels.push_back(level);
      p.variants.push_back(v);
    }
    p.ladders.push_back(ladder);
    folder.write("profile.json", planning::to_json(p));
    return test::start(
      mode::single,
      {"devices=[{name='cpu:0',executor='test_card',"
       "variants=['large@10','small@5'],max_batch=3,seats=6,"
       "test_card_step_ms="
         + std::to_string(takes.count()) + "}]",
       "policy.name='atelier'", "limits.queue_s=3600", "limits.requests=1000",
       "planner.profile='" + (folder.path / "profile.json").string() + "'",
       "planner.period_s=0.5", "monitor.window_s=1"});
  }

  /// Submits `count` images of 64x64, one every `pause`; returns the answers
  /// that exist by then.
  static std::vector<answer> answers_of(engine& to, int count,
                                        std::chrono::milliseconds pause) {
    std::vector<submission> all;
    for (int i = 0; i < count; ++i) {
      generation x;
      x.prompt = "a";
      x.width = x.height = 64;
      auto got = to.submit(x);
      BOOST_REQUIRE(std::holds_alternative<submission>(got));
      all.push_back(std::get<submission>(std::move(got)));
      std::this_thread::sleep_for(pause);
    }
    std::vector<answer> out;
    for (auto& x : all)
      if (x.result.wait_for(0s) == std::future_status::ready)
        out.push_back(x.result.get());
    return out;
  }

  const test::scratch_folder folder;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_admission_test, fixture)

BOOST_AUTO_TEST_CASE(what_the_plan_does_not_take_on_is_refused_with_a_time) {
  // A small image takes two seconds, so at most three fit into that time.
  auto sut = start(400ms, 400ms);
  std::vector<answer> refused;
  const auto overloaded = [&] {
    for (auto& x : answers_of(*sut, 10, 20ms))
      if (test::code_of(x) == "overloaded")
        refused.push_back(std::move(x));
    return refused.size() > 3;
  };
  BOOST_TEST_REQUIRE(eventually(overloaded));
  const auto& why = std::get<failure>(refused.back());
  BOOST_TEST(why.text.find("more requests arrive than the plan admits")
               != std::string::npos,
             why.text);
  BOOST_TEST((why.retry_after >= 1s));
  const auto rates = sut->status().admitted_rates;
  BOOST_TEST_REQUIRE(!rates.empty());
  BOOST_TEST(std::isfinite(rates.front()));
}

BOOST_AUTO_TEST_CASE(small_images_are_planned_as_small) {
  // The cards' own size is 256x256. By the profile an image of that size takes
  // sixteen times as long, and the device would have time for two a second.
  auto sut = start(20ms, 20ms);
  BOOST_TEST(eventually([&] { return sut->status().plan_version > 0; }));
  for (const answer& x : answers_of(*sut, 100, 50ms))
    BOOST_TEST(test::code_of(x) == "");
  BOOST_TEST(sut->status().refused == 0u);
  BOOST_TEST(sut->stop(30s));
}

BOOST_AUTO_TEST_SUITE_END()
