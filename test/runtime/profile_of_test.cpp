// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include "support/told_stage.hpp"
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

using namespace atelier;

BOOST_AUTO_TEST_SUITE(profile_of_test)

BOOST_AUTO_TEST_CASE(a_variant_is_read) {
  const auto v = planning::parse_variant("base@50");
  BOOST_TEST_REQUIRE(v.operator bool());
  BOOST_TEST(v->name == "base@50");
  BOOST_TEST(v->model == "base");
  BOOST_TEST(v->steps == 50u);
  BOOST_TEST((v->precision == core::dtype::float32));
}

BOOST_AUTO_TEST_CASE(an_element_type_is_read) {
  const std::pair<const char*, core::dtype> rows[] = {
    {"a@1/f32", core::dtype::float32},
    {"a@1/f16", core::dtype::float16},
    {"a@1/bf16", core::dtype::bfloat16},
  };
  for (const auto& [name, type] : rows) {
    const auto v = planning::parse_variant(name);
    BOOST_TEST_REQUIRE(v.operator bool(), name);
    BOOST_TEST((v->precision == type), name);
    BOOST_TEST(v->model == "a");
  }
}

BOOST_AUTO_TEST_CASE(the_last_at_divides) {
  const auto v = planning::parse_variant("a@b@3");
  BOOST_TEST_REQUIRE(v.operator bool());
  BOOST_TEST(v->model == "a@b");
}

BOOST_AUTO_TEST_CASE(what_is_no_variant_is_refused) {
  for (const auto* name :
       {"", "a", "@", "@5", "a@", "a@0", "a@-1", "a@+1", "a@1.5", "a@ 1",
        "a@1 ", "a@4294967296", "a@1/", "a@1/f64", "a@1/f32/f32", "a@/f32"}) {
    const auto v = planning::parse_variant(name);
    BOOST_TEST(!v, name);
    if (!v)
      BOOST_TEST((v.why().code == core::ec::bad_config), name);
  }
}

BOOST_AUTO_TEST_CASE(a_cards_step_takes_its_set_time_at_every_size) {
  using namespace std::chrono_literals;
  config::settings x;
  x.devices.resize(1);
  x.devices[0].variants = {"card@10"};
  x.devices[0].test_card_step = 20ms;
  const auto known = *runtime::profile_of(x);
  const auto& v = known.variants.at(0);
  for (const uint32_t batch : {1u, 3u, 8u})
    for (const uint32_t side : {8u, 64u, 512u}) {
      const auto took = planning::step_time(v, batch, {side, side});
      BOOST_TEST((took >= 20ms), batch << " rows of " << side);
      BOOST_TEST((took <= 20ms + batch * 1ms), batch << " rows of " << side);
    }
  // A card without delays also takes some time.
  x.devices[0].test_card_step = 0ms;
  const auto fast = *runtime::profile_of(x);
  BOOST_TEST((planning::step_time(fast.variants[0], 1, {8, 8}) > 0ns));
}

BOOST_AUTO_TEST_CASE(variants_stand_in_the_order_of_their_first_mention) {
  config::settings x;
  x.devices.resize(2);
  x.devices[0].variants = {"b@1", "a@2"};
  x.devices[1].variants = {"a@2", "c@3"};
  const auto known = *runtime::profile_of(x);
  BOOST_TEST_REQUIRE(known.variants.size() == 3u);
  BOOST_TEST(known.variants[0].name == "b@1");
  BOOST_TEST(known.variants[1].name == "a@2");
  BOOST_TEST(known.variants[2].name == "c@3");
}

BOOST_AUTO_TEST_CASE(every_profile_names_stages_that_exist) {
  using namespace std::chrono_literals;
  const test::scratch_folder folder;
  planning::profile p;
  auto v = *planning::parse_variant("a@2");
  v.native_px = {64, 64};
  v.step = {{1, 64 * 64, 1ms, 9}};
  p.variants.push_back(v);
  p.stages = {{"mask", 1ms}, {"upscale", 2ms, 3ms}};
  folder.write("p.json", planning::to_json(p));
  const auto file = (folder.path / "p.json").string();
  planning::stage_row row;
  row.name = "upscale";
  const runtime::own_stages own{
    {planning::make_stage(test::told_stage{row, {}, {}}), ""}};
  const auto known = [&](const auto& set, const runtime::own_stages& more) {
    config::settings x;
    x.devices.resize(1);
    x.devices[0].variants = {"a@2"};
    set(x);
    return runtime::profile_of(x, runtime::unreadable::refused, more);
  };
  const auto check = [&](std::string_view option, const auto& set) {
    const auto without = known(set, {});
    BOOST_TEST_REQUIRE(!without, option);
    BOOST_TEST((without.why().code == core::ec::bad_config));
    BOOST_TEST(without.why().text
               == std::string{option} + ": " + file
                    + ": stages.upscale: there is no stage 'upscale'");
    BOOST_TEST(known(set, own).operator bool(), option);
  };
  check("planner.profile", [&](auto& x) { x.planner.profile = file; });
  check("planner.quality", [&](auto& x) { x.planner.quality = file; });
  check("devices[0].profile", [&](auto& x) { x.devices[0].profile = file; });
  const auto measured = known([&](auto& x) { x.planner.profile = file; }, own);
  BOOST_TEST((measured->stages == p.stages));
}

BOOST_AUTO_TEST_CASE(kinds_of_devices_have_costs_of_their_own) {
  using namespace std::chrono_literals;
  const test::scratch_folder folder;
  const auto file = [&](const char* name, core::timespan step) {
    planning::profile p;
    auto v = *planning::parse_variant("a@2");
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, step, 9}};
    v.load = 10 * step;
    p.variants.push_back(v);
    folder.write(name, planning::to_json(p));
    return (folder.path / name).string();
  };
  config::settings x;
  x.devices.resize(3);
  x.devices[0].variants = {"a@2", "b@1"};
  x.devices[1].name = "cpu:1";
  x.devices[1].kind = "slow";
  x.devices[1].variants = {"a@2", "b@1"};
  x.devices[2].name = "cpu:2";
  x.devices[2].variants = {"a@2"};
  // No difference between the kinds is known.
  BOOST_TEST(runtime::profile_of(x)->kinds.empty());
  x.planner.profile = file("all.json", 20ms);
  x.devices[1].profile = file("slow.json", 70ms);
  const auto known = *runtime::profile_of(x);
  BOOST_TEST_REQUIRE(known.kinds.size() == 1u);
  const core::variant_id a{0};
  const core::variant_id b{1};
  BOOST_TEST((on_kind(known, a, "slow").step.front().took == 70ms));
  BOOST_TEST((load_on(known, a, "slow") == 700ms));
  BOOST_TEST(!guessed_on(known, a, "slow"));
  // Values that its file lacks are guessed for it.
  BOOST_TEST(guessed_on(known, b, "slow"));
  // A kind without its own file uses the common file.
  BOOST_TEST((on_kind(known, a, "cpu").step.front().took == 20ms));
  BOOST_TEST((known.variants[0].step.front().took == 20ms));

  // Nothing is measured: cards of another kind are guessed by their own steps.
  x.planner.profile.clear();
  x.devices[1].profile.clear();
  x.devices[1].test_card_step = 300ms;
  const auto guessed = *runtime::profile_of(x);
  BOOST_TEST_REQUIRE(guessed.kinds.size() == 1u);
  BOOST_TEST(guessed.kinds[0].kind == "slow");
  BOOST_TEST((on_kind(guessed, a, "slow").step.front().took >= 300ms));
  BOOST_TEST((on_kind(guessed, a, "cpu").step.front().took < 300ms));

  x.devices[1].profile = (folder.path / "none.json").string();
  const auto none = runtime::profile_of(x);
  BOOST_TEST_REQUIRE(!none);
  BOOST_TEST(none.why().text.find("devices[1].profile: ") == 0u,
             none.why().text);
}

BOOST_AUTO_TEST_CASE(steps_of_one_model_are_variants_of_their_own) {
  config::settings x;
  x.devices[0].variants = {"a@2", "a@3", "a@2/f16"};
  BOOST_TEST(runtime::profile_of(x)->variants.size() == 3u);
}

namespace {

/// The evaluation of b@1 and a@2, and the possible folders of their judge.
struct evaluated {
  evaluated() {
    planning::profile p;
    for (const auto& [name, quality] :
         {std::pair{"a@2", 0.5}, std::pair{"b@1", 0.75}}) {
      auto v = *planning::parse_variant(name);
      v.native_px = {64, 64};
      v.step = {{1, 64 * 64, std::chrono::milliseconds{3}, 5}};
      v.quality = quality;
      p.variants.push_back(v);
    }
    planning::cascade_profile c;
    c.light = core::variant_id{0};
    c.heavy = core::variant_id{1};
    c.judge = "critic";
    c.deferred = {{0, 0}, {1, 1}};
    p.cascades.push_back(c);
    std::ofstream{file} << planning::to_json(p);
    x.planner.quality = file.string();
    x.policy.judges = folder.path.string();
    x.devices[0].variants = {"b@1", "a@2"};
    std::filesystem::create_directories(folder.path / "critic");
    std::ofstream{folder.path / "critic" / "config.json"} << "{}";
  }

  const test::scratch_folder folder;
  const std::filesystem::path file = folder.path / "profile.json";
  config::settings x;
};

} // namespace

BOOST_AUTO_TEST_CASE(quality_is_taken_over_and_nothing_that_was_timed) {
  const evaluated of;
  const auto known = *runtime::profile_of(of.x);
  BOOST_TEST(known.variants[0].quality == 0.75);
  BOOST_TEST(known.variants[1].quality == 0.5);
  BOOST_TEST((known.variants[0].step[0].took != std::chrono::milliseconds{3}));
}

BOOST_AUTO_TEST_CASE(a_measurement_without_quality_keeps_what_was_evaluated) {
  evaluated of;
  of.x.devices[0].variants = {"b@1", "c@1"};
  const auto file = of.folder.path / "measured.json";
  auto measured = *runtime::profile_of(of.x);
  measured.variants[0].rated = false;
  BOOST_TEST(!measured.variants[1].rated);
  std::ofstream{file} << planning::to_json(measured);
  of.x.planner.profile = file.string();
  const auto known = *runtime::profile_of(of.x);
  BOOST_TEST(known.variants[0].quality == 0.75);
  BOOST_TEST(known.variants[0].rated);
  BOOST_TEST(known.variants[1].quality == 1.0);
  BOOST_TEST(!known.variants[1].rated);
}

BOOST_AUTO_TEST_CASE(cascades_are_of_variants_and_judges_that_are_there) {
  evaluated of;
  const auto known = *runtime::profile_of(of.x);
  BOOST_TEST_REQUIRE(known.cascades.size() == 1u);
  BOOST_TEST(known.cascades[0].light.value == 1u);
  BOOST_TEST(known.cascades[0].heavy.value == 0u);
  auto without = of.x;
  without.devices[0].variants = {"b@1"};
  BOOST_TEST(runtime::profile_of(without)->cascades.empty());
  without = of.x;
  without.policy.judges.clear();
  BOOST_TEST(runtime::profile_of(without)->cascades.empty());
  std::filesystem::remove_all(of.folder.path / "critic");
  BOOST_TEST(runtime::profile_of(of.x)->cascades.empty());
}

BOOST_AUTO_TEST_CASE(a_plan_and_the_policy_that_answers_by_it_go_together) {
  evaluated of;
  const auto known = *runtime::profile_of(of.x);
  const auto refused = [&](const std::string& part) {
    const auto made = runtime::policy_of(of.x, known);
    BOOST_REQUIRE(!made);
    BOOST_TEST(made.why().text.find(part) != std::string::npos,
               made.why().text);
  };
  of.x.policy.name = "fixed";
  refused("planner.plan is empty");
  of.x.policy.name = "nobody";
  refused("policy.name: unknown policy 'nobody'");
  planning::plan plain;
  const auto vanilla = *planning::make_policy("vanilla");
  plain = vanilla->replan({}, known, {}, plain);
  const auto file = of.folder.path / "plan.json";
  const auto write = [&](const planning::plan& x) {
    std::ofstream{file} << to_json(planning::saved(x, "vanilla"), known);
  };
  write(plain);
  of.x.planner.plan = file.string();
  refused("a plan is for policy.name = \"fixed\", not for 'nobody'");
  of.x.policy.name = "fixed";
  const auto made = runtime::policy_of(of.x, known);
  BOOST_REQUIRE(made);
  BOOST_TEST((*made)->name() == "fixed");
  plain.thresholds = {0.5};
  plain.routes[1].legs[0].check = planning::gate{"critic", 0};
  write(plain);
  BOOST_TEST(static_cast<bool>(runtime::policy_of(of.x, known)));
  plain.routes[1].legs[0].check->judge = "stranger";
  write(plain);
  refused("asks the judge 'stranger', which was not found");
  plain.routes[1].legs[0].check.reset();
  plain.routes[1].legs[0].from = planning::origin::stage_image;
  plain.routes[1].legs[0].skip = 1;
  plain.share = {{0, 1}};
  write(plain);
  refused("plan.json: plan.routes[1].stages[0].from: \"stage_image\": there is "
          "no stage before the first");
  of.x.planner.plan = "nowhere.json";
  refused("planner.plan: cannot read nowhere.json");
}

// The fleet would be planned for steps that nothing skips.
BOOST_AUTO_TEST_CASE(plans_with_skips_that_cannot_happen_are_refused_by_name) {
  config::settings x;
  planning::profile known;
  auto v = *planning::parse_variant("painter@20");
  v.native_px = {64, 64};
  v.step = {{1, 64 * 64, std::chrono::milliseconds{10}, 9}};
  known.variants = {v};
  planning::ladder_profile latents;
  latents.kind = planning::ladder_kind::cached_latents;
  latents.levels = {{core::variant_id{0}, 0, 1, {}},
                    {core::variant_id{0}, 10, 0.9, {}}};
  known.ladders = {latents};
  const auto why = [&](const char* policy) {
    x.policy.name = policy;
    const auto made = runtime::policy_of(x, known);
    return made ? std::string{} : made.why().text;
  };
  const auto starts = [&](const char* policy, const std::string& with) {
    const auto text = why(policy);
    BOOST_TEST(text.starts_with(with), text);
  };
  starts("argus", "policy.name: policy 'argus' plans that requests skip steps");
  BOOST_TEST(why("argus").find("set cache.memory_mib") != std::string::npos);
  x.cache.memory_bytes = 1 << 20;
  starts("argus", "planner.profile: policy 'argus' plans that requests skip");
  known.reuse.emplace();
  BOOST_TEST(why("argus") == "");
  starts("argus-paper", "policy.name: policy 'argus-paper'");
  BOOST_TEST(why("argus-paper").find("take 'argus'") != std::string::npos);
  for (const auto* const comparison : {"pac", "argus-no-shift", "proteus"})
    BOOST_TEST(why(comparison).find("for comparisons: ") != std::string::npos);
  BOOST_TEST(why("vanilla") == "");
  known.ladders.clear();
  BOOST_TEST(why("argus-paper") == "");
}

BOOST_AUTO_TEST_CASE(auto_takes_the_policy_that_fits_what_is_served) {
  config::settings x;
  BOOST_TEST(x.policy.name == "auto");
  const auto chosen = [&](const planning::profile& known) {
    const auto made = runtime::policy_of(x, known);
    BOOST_REQUIRE(made);
    return std::string{(*made)->name()};
  };
  planning::profile known;
  const auto add = [&](const char* name) {
    auto v = *planning::parse_variant(name);
    v.native_px = {64, 64};
    v.step = {{1, 64 * 64, std::chrono::milliseconds{1}}};
    known.variants.push_back(std::move(v));
  };
  add("painter@20");
  BOOST_TEST(chosen(known) == "vanilla");
  add("sketcher@4");
  BOOST_TEST(chosen(known) == "atelier");
  planning::cascade_profile c;
  c.light = core::variant_id{1};
  c.heavy = core::variant_id{0};
  known.cascades = {c};
  BOOST_TEST(chosen(known) == "vanilla");
}

BOOST_AUTO_TEST_CASE(what_was_measured_here_goes_before_what_was_evaluated) {
  evaluated of;
  of.x.planner.profile = of.x.planner.quality;
  of.x.planner.quality.clear();
  const auto known = *runtime::profile_of(of.x);
  BOOST_TEST((known.variants[0].step[0].took == std::chrono::milliseconds{3}));
  BOOST_TEST(known.cascades.size() == 1u);
  of.x.planner.quality = "nowhere.json";
  const auto refused = runtime::profile_of(of.x);
  BOOST_TEST_REQUIRE(!refused);
  BOOST_TEST(refused.why().text.find(
               "planner.quality: cannot read nowhere.json: No such")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_guess_is_marked_and_bounds_no_cascade) {
  const evaluated of;
  const auto known = *runtime::profile_of(of.x);
  for (const auto& v : known.variants)
    BOOST_TEST(v.guessed);
  BOOST_TEST_REQUIRE(known.cascades.size() == 1u);
  BOOST_TEST((known.cascades[0].deadline == planning::no_deadline));
  auto measured = of.x;
  measured.planner.profile = measured.planner.quality;
  const auto exact = *runtime::profile_of(measured);
  for (const auto& v : exact.variants)
    BOOST_TEST(!v.guessed);
  BOOST_TEST((exact.cascades.at(0).deadline == std::chrono::seconds{5}));
  // The evaluation does not give the number of steps.
  auto p =
    *planning::parse_profile(of.folder.read("profile.json"), "profile.json");
  for (auto& v : p.variants)
    v.step[0].samples = 0;
  const auto few = of.folder.path / "unsaid.json";
  std::ofstream{few} << planning::to_json(p);
  measured.planner.profile = few.string();
  const auto unsaid = *runtime::profile_of(measured);
  for (const auto& v : unsaid.variants) {
    BOOST_TEST(v.guessed);
    BOOST_TEST((v.step[0].took == std::chrono::milliseconds{3}));
  }
  BOOST_TEST((unsaid.cascades.at(0).deadline == planning::no_deadline));
}

BOOST_AUTO_TEST_CASE(a_quality_counts_beyond_its_images_only) {
  evaluated of;
  const auto given =
    *planning::parse_profile(of.folder.read("profile.json"), "profile.json");
  const auto known_with = [&](uint32_t images) {
    auto p = given;
    for (auto& v : p.variants)
      v.quality_images = images;
    const auto file = of.folder.path / "few.json";
    std::ofstream{file} << planning::to_json(p);
    of.x.planner.quality = file.string();
    return *runtime::profile_of(of.x);
  };
  // With eight images each, .5 and .75 may be chance.
  const auto few = known_with(8);
  BOOST_TEST(few.variants[0].quality == 0.625);
  BOOST_TEST(few.variants[1].quality == 0.625);
  const auto many = known_with(800);
  BOOST_TEST(many.variants[0].quality == 0.75);
  BOOST_TEST(many.variants[1].quality == 0.5);
}

BOOST_AUTO_TEST_CASE(every_section_of_a_measurement_is_taken_over) {
  evaluated of;
  auto measured =
    *planning::parse_profile(of.folder.read("profile.json"), "profile.json");
  const core::variant_id a{0};
  const core::variant_id b{1};
  measured.idle_watts = 60;
  measured.variants[1].busy_watts = 300;
  planning::ladder_profile models;
  models.kind = planning::ladder_kind::smaller_models;
  models.levels = {{b, 0, 0.75, {}}, {a, 0, 0.5, {}}};
  measured.ladders = {models};
  measured.reuse.emplace();
  measured.reuse->full = b;
  measured.reuse->small = {a};
  planning::masked_profile masked;
  masked.variant = b;
  masked.blocks = masked.tokens = masked.width = 8;
  masked.compute_slope = masked.load_slope = 1e-9;
  measured.masked = {masked};
  const auto file = of.folder.path / "measured.json";
  std::ofstream{file} << planning::to_json(measured);
  of.x.planner.profile = file.string();
  // The numbers are those of the variants that are hosted here.
  const core::variant_id own_a{1};
  const core::variant_id own_b{0};
  const auto known = *runtime::profile_of(of.x);
  BOOST_TEST(known.idle_watts == 60);
  BOOST_TEST(known.variants[0].busy_watts == 300);
  BOOST_TEST_REQUIRE(known.ladders.size() == 1u);
  BOOST_TEST((known.ladders[0].levels[0].variant == own_b));
  BOOST_TEST((known.ladders[0].levels[1].variant == own_a));
  BOOST_TEST_REQUIRE(known.reuse.has_value());
  BOOST_TEST((known.reuse->full == own_b));
  BOOST_TEST((known.reuse->small == std::vector{own_a}));
  BOOST_TEST_REQUIRE(known.masked.size() == 1u);
  BOOST_TEST((known.masked[0].variant == own_b));
  // No device of a server leaves out what a mask hides.
  BOOST_TEST(known.edits_in_full);
  BOOST_TEST(known.cascades.size() == 1u);
  // The devices lack the light variant.
  of.x.devices[0].variants = {"b@1"};
  const auto alone = *runtime::profile_of(of.x);
  BOOST_TEST(alone.ladders.empty());
  BOOST_TEST(alone.reuse->small.empty());
  BOOST_TEST(alone.masked.size() == 1u);
  BOOST_TEST(alone.cascades.empty());
}

BOOST_AUTO_TEST_SUITE_END()
