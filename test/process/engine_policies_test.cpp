// SPDX-License-Identifier: Apache-2.0
// Every policy by its name, with split processes.
#include <atelier/planning/comparisons.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/planning/random_judge.hpp>

#include <boost/test/unit_test.hpp>
#include <cli/scratch_folder.hpp>
#include <planning/every_policy.hpp>
#include <process/engine_fixture.hpp>
#include <process/host_code.hpp>
#include <support/eventually.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <variant>

using namespace atelier;
using namespace std::chrono_literals;
using test::eventually;
using test::mode;

namespace {

/// Returns a profile with a section for each policy, of two variants of the
/// test card.
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

/// The index after the routes of each variant by itself, which every plan has.
constexpr size_t first_own = 2;

/// Returns the first class's share of the policy's own route that begins with
/// this, or nothing if the plan has no such route. The share is 0 if the policy
/// decides for each request.
std::optional<double> share_of(const engine_status& s, std::string_view begin) {
  for (size_t i = first_own; i < s.routes.size(); ++i) {
    const auto& r = s.routes[i];
    if (r.name.starts_with(begin))
      return r.shares.empty() ? 0 : r.shares.front();
  }
  return std::nullopt;
}

/// One policy of each system, and the evidence that it decided.
struct decision {
  const char* policy;
  std::function<bool(const engine_status&)> planned;
  /// The beginning of each answer's route.
  const char* route;
};

const decision systems[] = {
  {"argus",
   [](const engine_status& s) {
     // The plan has each level of the ladder, and the whole first class is on
     // the best.
     return share_of(s, "heavy@10") == 1 && share_of(s, "light@2") == 0;
   },
   "heavy@10"},
  {"diffserve",
   [](const engine_status& s) {
     return share_of(s, "cascade") == 1 && s.thresholds.size() == 1;
   },
   "cascade"},
  {"modm",
   [](const engine_status& s) {
     return share_of(s, "miss") == 1 && share_of(s, "hit, k=2") == 0
         && share_of(s, "hit, k=5") == 0;
   },
   "miss"},
  {"nirvana",
   [](const engine_status& s) {
     return share_of(s, "scratch") == 1 && share_of(s, "latent, K=") == 0
         && share_of(s, "picture") == 0;
   },
   "scratch"},
  {"instgenie",
   [](const engine_status& s) {
     return share_of(s, "heavy@10, edit and record").has_value();
   },
   nullptr},
  {"atelier",
   [](const engine_status& s) {
     double all = 0;
     for (size_t i = first_own; i < s.routes.size(); ++i)
       if (!s.routes[i].shares.empty())
         all += s.routes[i].shares.front();
     return std::abs(all - 1) < 1e-6;
   },
   nullptr},
};

/// Adds the policies that servers do not have, if one is needed.
void bring_comparisons(engine_options& to, const std::string& policy) {
  if (policy == "fixed" || planning::is_for_comparisons(policy))
    to.extend.policies = papers::paper_policies();
}

/// A folder with the measurements, and with the judge that they name.
struct fixture {
  fixture() {
    folder.write("measured.json", planning::to_json(everything_measured()));
    std::filesystem::create_directories(folder.path / "critic");
    folder.write("critic/config.json", "{}");
  }

  std::unique_ptr<engine> start(mode how, const std::string& policy,
                                double period_seconds = 0.5,
                                const std::string& more = "") const {
    const std::string device = "executor='test_card',variants=['light@2',"
                               "'heavy@10'],max_batch=4,test_card_step_ms=1}";
    std::vector<std::string> set{
      "devices=[{name='cpu:0'," + device + ",{name='cpu:1'," + device + "]",
      "policy.name='" + policy + "'",
      "policy.judges='" + folder.path.string() + "'",
      "planner.profile='" + (folder.path / "measured.json").string() + "'",
      "planner.period_s=" + std::to_string(period_seconds),
      "monitor.window_s=" + std::to_string(2 * period_seconds)};
    if (!more.empty())
      set.push_back(more);
    auto options = test::options_of(how, std::move(set));
    bring_comparisons(options, policy);
    return test::start(options);
  }

  /// Starts an engine whose variants are those of two models. The sampler of
  /// `light` has a spacing of its own. What a model draws does not matter, so
  /// the images are the test card's.
  std::unique_ptr<engine> start_models(const std::string& policy) const {
    for (const auto* name : {"heavy", "light"})
      if (!std::filesystem::exists(folder.path / name))
        std::filesystem::copy(ATELIER_SOURCE_DIR "/models/tiny",
                              folder.path / name,
                              std::filesystem::copy_options::recursive);
    folder.write("light/scheduler/scheduler_config.json",
                 R"({"_class_name": "LCMScheduler",
                   "num_train_timesteps": 1000, "beta_start": 0.00085,
                   "beta_end": 0.012, "beta_schedule": "scaled_linear",
                   "prediction_type": "v_prediction", "clip_sample": false,
                   "steps_offset": 1})");
    const auto model = [&](const std::string& name) {
      return "{name='" + name + "',path='" + (folder.path / name).string()
           + "'}";
    };
    const std::string device =
      "executor='painter',variants=['heavy@10','light@2'],max_batch=4}";
    auto options = test::options_of(
      mode::single,
      {"models=[" + model("heavy") + "," + model("light") + "]",
       "devices=[{name='cpu:0'," + device + ",{name='cpu:1'," + device + "]",
       "policy.name='" + policy + "'",
       "policy.judges='" + folder.path.string() + "'",
       "planner.profile='" + (folder.path / "measured.json").string() + "'",
       "planner.period_s=0.5", "monitor.window_s=1"});
    options.extend.executors = {test::painting()};
    bring_comparisons(options, policy);
    return test::start(options);
  }

  static generation wanted(uint64_t seed) {
    generation x;
    x.prompt = "card";
    x.width = x.height = 64;
    x.seed = seed;
    return x;
  }

  const test::scratch_folder folder;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_policies_test, fixture)

BOOST_AUTO_TEST_CASE(one_policy_of_each_system_decides) {
  for (const auto& x : systems)
    BOOST_TEST_CONTEXT(x.policy) {
      auto sut = start(mode::single, x.policy);
      BOOST_TEST_REQUIRE(eventually([&] { return x.planned(sut->status()); }));
      std::vector<generation> all;
      for (uint64_t i = 0; i < 4; ++i)
        all.push_back(wanted(i));
      for (const auto& made : test::answers_to(*sut, all)) {
        const auto& p = test::image_in(made);
        if (x.route != nullptr)
          BOOST_TEST(p.route.starts_with(x.route), p.route);
        // The answers follow its plan.
        const auto s = sut->status();
        BOOST_TEST(
          std::any_of(s.routes.begin(), s.routes.end(),
                      [&](const auto& r) { return r.name == p.route; }),
          p.route);
      }
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(no_policy_chooses_what_cannot_run_a_requests_values) {
  // Each prefers the light model, alone or before the heavy one.
  for (const auto* policy :
       {"clipper-light", "light-aimd", "small-model", "diffserve"})
    BOOST_TEST_CONTEXT(policy) {
      auto sut = start_models(policy);
      BOOST_TEST_REQUIRE(eventually([&] {
        const auto s = sut->status();
        return s.plan_version > 0 && s.routes.size() > first_own;
      }));
      const auto plain = test::answers_to(*sut, {wanted(1)});
      BOOST_TEST(test::image_in(plain.front()).route != "heavy@10");
      auto spaced = wanted(2);
      spaced.spacing = "leading";
      const auto made = test::answers_to(*sut, {spaced, spaced});
      for (const auto& x : made) {
        BOOST_TEST(test::image_in(x).variant == "heavy@10");
        BOOST_TEST(test::image_in(x).route == "heavy@10");
        BOOST_TEST(test::image_in(x).spacing == "leading");
      }
      // Who names the light model learns at once that it cannot.
      spaced.variant = "light@2";
      const auto refused = sut->submit(spaced);
      BOOST_TEST_REQUIRE(std::holds_alternative<failure>(refused));
      BOOST_TEST(std::get<failure>(refused).text.starts_with(
        "spacing leading: sampler lcm has its own; "));
      BOOST_TEST(sut->stop(10s));
    }
}

BOOST_AUTO_TEST_CASE(random_cascade_answers_by_both_variants_as_planned) {
  // The plan belongs to that policy, so that no demand moves its threshold.
  folder.write("plan.json", R"({"format": "atelier.plan", "version": 1,
    "policy": "random-cascade", "memory": {"of": "diffserve"},
    "workers": [{"count": 2, "batch": 4, "hosting": ["light@2", "heavy@10"]}],
    "routes": [{"route": 0, "name": "light@2",
                "stages": [{"any_of": ["light@2"]}]},
               {"route": 1, "name": "heavy@10",
                "stages": [{"any_of": ["heavy@10"]}]},
               {"route": 2, "name": "cascade",
                "stages": [{"any_of": ["light@2"],
                            "gate": {"judge": "random", "threshold": 0}},
                           {"any_of": ["heavy@10"]}]}],
    "share": [{"2": 1}], "thresholds": [0.35]})");
  auto sut =
    start(mode::single, "fixed", 0.5,
          "planner.plan='" + (folder.path / "plan.json").string() + "'");
  const auto before = sut->status();
  BOOST_TEST_REQUIRE(before.thresholds.size() == 1u);
  const double threshold = before.thresholds.front();
  std::vector<generation> all;
  for (uint64_t seed = 1; seed <= 60; ++seed)
    all.push_back(wanted(seed));
  const auto answers = test::answers_to(*sut, all);
  const auto after = sut->status();
  BOOST_TEST_REQUIRE(after.thresholds == before.thresholds);
  BOOST_TEST(after.figure("judge_failures") == 0u);
  size_t heavy = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& p = test::image_in(answers[i]);
    const bool again = planning::random_score(*all[i].seed) < threshold;
    BOOST_TEST(p.route.starts_with("cascade"), p.route);
    BOOST_TEST(p.variant == (again ? "heavy@10" : "light@2"),
               "seed " << *all[i].seed);
    heavy += again ? 1u : 0u;
  }
  BOOST_TEST(heavy > 0u);
  BOOST_TEST(heavy < all.size());
  // The threshold is the share of scores below it, within two deviations of 60
  // draws.
  const double n = static_cast<double>(all.size());
  BOOST_TEST(std::abs(static_cast<double>(heavy) / n - threshold)
             <= 2 * std::sqrt(threshold * (1 - threshold) / n));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(edits_take_the_route_of_edits) {
  auto sut = start(mode::single, "full-recompute");
  BOOST_TEST_REQUIRE(eventually(
    [&] { return share_of(sut->status(), "heavy@10, edit").has_value(); }));
  auto edit = wanted(1);
  edit.variant = "heavy@10";
  edit.image = test::image_file(64, 64, 1, core::image_format::png);
  edit.mask = test::image_file(64, 64, 2, core::image_format::png);
  auto plain = wanted(2);
  plain.variant = "heavy@10";
  const auto answers = test::answers_to(*sut, {edit, plain});
  BOOST_TEST(test::image_in(answers[0]).route == "heavy@10, edit");
  BOOST_TEST(test::image_in(answers[1]).route == "heavy@10");
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(unrelated_models_are_planned_by_demand_unless_told) {
  const auto served = [](std::vector<std::string> more) {
    const std::string device = "executor='test_card',variants=['one@4',"
                               "'two@4','three@4']}";
    more.insert(more.begin(), "devices=[{name='cpu:0'," + device
                                + ",{name='cpu:1'," + device + "]");
    return test::start(mode::single, more);
  };
  std::vector<generation> all;
  for (uint64_t i = 0; i < 30; ++i) {
    all.push_back(wanted(i));
    all.back().variant = i % 3 == 0 ? "one@4"
                       : i % 3 == 1 ? "two@4"
                                    : "three@4";
  }
  const auto check = [&](engine& sut, const std::string& policy, bool by_auto) {
    const auto s = sut.status();
    BOOST_TEST(s.policy == policy);
    BOOST_TEST(s.policy_is_automatic == by_auto);
    const auto answers = test::answers_to(sut, all);
    for (size_t i = 0; i < all.size(); ++i)
      BOOST_TEST(test::image_in(answers[i]).variant == *all[i].variant);
    BOOST_TEST(sut.stop(10s));
  };
  check(*served({}), "atelier", true);
  check(*served({"policy.name=auto"}), "atelier", true);
  check(*served({"policy.name=vanilla"}), "vanilla", false);
}

BOOST_AUTO_TEST_CASE(related_variants_are_answered_as_asked_by_default) {
  auto sut = start(mode::single, "auto");
  const auto s = sut->status();
  BOOST_TEST(s.policy == "vanilla");
  BOOST_TEST(s.policy_is_automatic);
  for (const auto* name : {"light@2", "heavy@10"}) {
    auto x = wanted(1);
    x.variant = name;
    BOOST_TEST(test::image_in(test::answers_to(*sut, {x})[0]).variant == name);
  }
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(every_policy_answers_over_processes_of_their_own) {
  // They need other judges, which are missing.
  const auto asks_another = [](const std::string& name) {
    return name == "score-cascade" || name == "clip-cascade";
  };
  std::vector<std::string> names;
  for (const auto& p : test::every_policy())
    names.emplace_back(p->name());
  std::mt19937_64 random{test::seed()};
  std::shuffle(names.begin(), names.end(), random);
  // Each case starts four processes.
  names.resize(
    std::min(names.size(), std::max<size_t>(8, test::scaled(names.size()))));
  for (const auto& name : names) {
    BOOST_TEST_CONTEXT(name) {
      auto sut = start(mode::split, name);
      BOOST_TEST(eventually([&] { return sut->status().plan_version > 0; }));
      BOOST_TEST(sut->status().policy == name);
      std::vector<generation> all;
      for (uint64_t i = 0; i < 12; ++i) {
        generation x;
        // Some prompts repeat.
        x.prompt = "card " + std::to_string(i % 5);
        x.width = x.height = 64;
        x.seed = i;
        all.push_back(x);
      }
      for (const auto& made : test::answers_to(*sut, all)) {
        const auto& p = test::image_in(made);
        BOOST_TEST((p.variant == "light@2" || p.variant == "heavy@10"),
                   p.variant);
        BOOST_TEST(p.width == 64u);
        BOOST_TEST(!p.bytes.empty());
      }
      const auto s = sut->status();
      BOOST_TEST(s.answered == all.size());
      BOOST_TEST(s.failed == 0u);
      BOOST_TEST((asks_another(name) || s.figure("judge_failures") == 0));
      BOOST_TEST(s.figure("workers_lost") == 0u);
      BOOST_TEST(sut->stop(10s));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
