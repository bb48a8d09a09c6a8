// SPDX-License-Identifier: Apache-2.0
// Every policy by its name, over processes of their own.
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <random>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;
using test::mode;

namespace {

/// A profile with a section for each policy, of two variants of the test card.
planning::profile everything_measured() {
  planning::profile p;
  for (const auto& [name, quality] :
       {std::pair{"light@2", 0.5}, std::pair{"heavy@10", 0.75}}) {
    auto v = *planning::parse_variant(name);
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, 2ms, 9}, {4, 64 * 64, 4ms, 9}};
    v.quality = quality;
    p.variants.push_back(v);
  }
  const core::variant_id light{0};
  const core::variant_id heavy{1};
  planning::cascade_profile c;
  c.light = light;
  c.heavy = heavy;
  c.judge = "critic";
  c.deadline = 5s;
  for (int i = 0; i <= 20; ++i)
    c.deferred.emplace_back(i / 20.0, i / 20.0);
  c.fid = {{0, 18}, {0.5, 17}, {1, 23}};
  c.fixed = planning::fixed_cascade{0.5, 1, 1, 1, 1};
  c.peak_rate = 10;
  p.cascades.push_back(c);
  planning::ladder_profile models;
  models.kind = planning::ladder_kind::smaller_models;
  models.levels = {{heavy, 0, 0.75, {}}, {light, 0, 0.5, {}}};
  p.ladders.push_back(models);
  p.reuse.emplace();
  p.reuse->full = heavy;
  p.reuse->small = {light};
  p.reuse->steps = 10;
  p.reuse->latents = {{2, 0.65}, {5, 0.9}};
  p.reuse->images = {{2, 0.25}, {5, 0.3}};
  planning::masked_profile masked;
  masked.variant = heavy;
  masked.blocks = masked.tokens = masked.width = 8;
  masked.compute_slope = masked.load_slope = 1e-9;
  p.masked = {masked};
  return p;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_policies_test)

BOOST_AUTO_TEST_CASE(every_policy_answers_over_processes_of_their_own) {
  const test::scratch_folder folder;
  folder.write("measured.json", planning::to_json(everything_measured()));
  std::filesystem::create_directories(folder.path / "critic");
  folder.write("critic/config.json", "{}");
  // They ask other judges, which are not there.
  const auto asks_another = [](const std::string& name) {
    return name == "score-cascade" || name == "clip-cascade";
  };
  std::vector<std::string> names;
  for (const auto& p : planning::all_policies())
    names.emplace_back(p->name());
  std::mt19937_64 random{test::seed()};
  std::shuffle(names.begin(), names.end(), random);
  // Each takes the start of four processes.
  names.resize(
    std::min(names.size(), std::max<size_t>(8, test::scaled(names.size()))));
  const std::string device = "executor='test_card',variants=['light@2',"
                             "'heavy@10'],max_batch=4,test_card_step_ms=1}";
  for (const auto& name : names) {
    BOOST_TEST_CONTEXT(name) {
      auto sut = test::start(
        mode::split,
        {"devices=[{name='cpu:0'," + device + ",{name='cpu:1'," + device + "]",
         "policy.name='" + name + "'",
         "policy.judges='" + folder.path.string() + "'",
         "planner.profile='" + (folder.path / "measured.json").string() + "'",
         "planner.period_s=0.5", "monitor.window_s=1"});
      BOOST_TEST_REQUIRE(sut != nullptr);
      BOOST_TEST(eventually([&] { return sut->status().plan_version > 0; }));
      BOOST_TEST(sut->status().policy == name);
      std::vector<generation> all;
      for (uint64_t i = 0; i < 12; ++i) {
        generation x;
        // Some prompts come again.
        x.prompt = "card " + std::to_string(i % 5);
        x.width = x.height = 64;
        x.seed = i;
        all.push_back(x);
      }
      for (const auto& made : test::answers_to(*sut, all)) {
        const auto& p = test::picture_in(made);
        BOOST_TEST((p.variant == "light@2" || p.variant == "heavy@10"),
                   p.variant);
        BOOST_TEST(p.width == 64u);
        BOOST_TEST(!p.bytes.empty());
      }
      const auto s = sut->status();
      BOOST_TEST(s.answered == all.size());
      BOOST_TEST(s.failed == 0u);
      BOOST_TEST((asks_another(name) || s.judge_failures == 0));
      BOOST_TEST(s.workers_lost == 0u);
      BOOST_TEST(sut->stop(10s));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
