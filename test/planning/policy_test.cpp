// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;

BOOST_AUTO_TEST_SUITE(policy_test)

BOOST_AUTO_TEST_CASE(policies_are_made_by_name) {
  const auto made = make_policy("vanilla");
  BOOST_REQUIRE(static_cast<bool>(made));
  BOOST_TEST((*made)->name() == "vanilla");
  for (const char* name : {"", "Vanilla", "something"}) {
    const auto none = make_policy(name);
    BOOST_REQUIRE(!none);
    BOOST_TEST((none.why().code == core::ec::not_found));
    BOOST_TEST(none.why().text.find("vanilla") != std::string::npos);
  }
  BOOST_TEST(make_policy("agrus").why().text.starts_with(
    "unknown policy 'agrus'; did you mean argus? Known policies are\n"));
  BOOST_TEST(
    make_policy("something")
      .why()
      .text.starts_with("unknown policy 'something'; known policies are\n"));
}

BOOST_AUTO_TEST_CASE(classes_are_rows_of_the_share) {
  const auto row = [](std::optional<std::vector<uint32_t>> levels,
                      size_t rows) {
    facts known;
    known.tolerated = std::move(levels);
    plan p;
    p.share.resize(rows);
    return class_of({}, known, p).value;
  };
  const std::vector<uint32_t> none;
  const std::vector<uint32_t> two{2, 0};
  BOOST_TEST(row(std::nullopt, 0) == 0u);
  BOOST_TEST(row(std::nullopt, 3) == 0u);
  BOOST_TEST(row(none, 3) == 0u);
  BOOST_TEST(row(two, 0) == 0u);
  BOOST_TEST(row(two, 2) == 1u);
  BOOST_TEST(row(two, 3) == 2u);
  BOOST_TEST(row(two, 4) == 2u);
}

BOOST_AUTO_TEST_CASE(workers_serve_their_own_queue_and_their_hostings) {
  worker_view w;
  w.worker = core::worker_id{1};
  BOOST_TEST(queues_of(w).size() == 1u);
  const core::variant_id v{1};
  w.hosting = {v, core::variant_id{0}, v};
  const auto served = queues_of(w);
  BOOST_REQUIRE(served.size() == 3u);
  BOOST_TEST((served[0] == queue_of(w.worker)));
  BOOST_TEST((served[1] == queue_of(v)));
  BOOST_TEST((queue_of(w.worker) != queue_of(v)));
  BOOST_TEST((queue_of(core::worker_id{2}) != queue_of(w.worker)));
}

BOOST_AUTO_TEST_CASE(recipes_take_the_variants_defaults) {
  const profile known = test::three_variants();
  core::request wanted;
  wanted.seed = 42;
  wanted.noise = core::noise_source::philox;
  wanted.deterministic = true;
  core::recipe expected;
  expected.variant = core::variant_id{1};
  expected.sampler = core::sampler::ddim;
  expected.steps = 20;
  expected.guidance = 7.5f;
  expected.px = {512, 512};
  expected.seed = 42;
  expected.noise = core::noise_source::philox;
  expected.deterministic = true;
  BOOST_TEST((recipe_of(wanted, {}, core::variant_id{1}, known) == expected));
}

BOOST_AUTO_TEST_CASE(recipes_honour_stage_then_pins) {
  const profile known = test::three_variants();
  core::request wanted;
  wanted.px = {64, 128};
  wanted.fixed.steps = 7;
  wanted.fixed.sampler = core::sampler::euler;
  wanted.fixed.guidance = 1.0f;
  const core::variant_id base{0};
  const core::recipe pinned = recipe_of(wanted, {}, base, known);
  BOOST_TEST(pinned.steps == 7u);
  BOOST_TEST((pinned.sampler == core::sampler::euler));
  BOOST_TEST(pinned.guidance == 1.0f);
  BOOST_TEST((pinned.px == core::extent{64, 128}));
  BOOST_TEST(!pinned.from_image);
  wanted.fixed.guidance_rescale = 0.5f;
  wanted.fixed.eta = 0.25f;
  wanted.fixed.karras = true;
  const core::recipe more = recipe_of(wanted, {}, base, known);
  BOOST_TEST(more.guidance_rescale == 0.5f);
  BOOST_TEST(more.eta == 0.25f);
  BOOST_TEST(more.karras);
  leg runs;
  runs.steps = 3;
  BOOST_TEST(recipe_of(wanted, runs, base, known).steps == 3u);
}

BOOST_AUTO_TEST_CASE(a_source_brings_a_strength_of_its_kind) {
  const profile known = test::three_variants();
  const core::variant_id base{0};
  core::request wanted;
  // Without an image the pinned strength, which the API never passes on,
  // changes nothing.
  wanted.fixed.strength = 0.5f;
  BOOST_TEST(recipe_of(wanted, {}, base, known).strength == 1.0f);
  wanted.fixed.strength.reset();
  auto source = std::make_shared<core::source_images>();
  wanted.source = source;
  BOOST_TEST(recipe_of(wanted, {}, base, known).from_image);
  BOOST_TEST(recipe_of(wanted, {}, base, known).strength == 0.8f);
  // If 0.8 leaves no step, all steps run.
  wanted.fixed.steps = 1;
  BOOST_TEST(recipe_of(wanted, {}, base, known).strength == 1.0f);
  wanted.fixed.steps = 2;
  BOOST_TEST(recipe_of(wanted, {}, base, known).strength == 0.8f);
  source->mask = {1};
  BOOST_TEST(recipe_of(wanted, {}, base, known).strength == 1.0f);
  wanted.fixed.strength = 0.5f;
  BOOST_TEST(recipe_of(wanted, {}, base, known).strength == 0.5f);
}

BOOST_AUTO_TEST_CASE(a_variant_may_have_karras_sigmas_by_itself) {
  profile known = test::three_variants();
  known.variants[0].sampler = core::sampler::euler;
  known.variants[0].karras = true;
  core::request wanted;
  const auto karras = [&] {
    return recipe_of(wanted, {}, core::variant_id{0}, known).karras;
  };
  BOOST_TEST(karras());
  wanted.fixed.karras = false;
  BOOST_TEST(!karras());
  // The variant's wish does not apply to samplers without sigmas. A client's
  // wish is refused by the API.
  wanted.fixed.sampler = core::sampler::ddim;
  wanted.fixed.karras.reset();
  BOOST_TEST(!karras());
  wanted.fixed.karras = true;
  BOOST_TEST(karras());
  // Nor does it where the client names another spacing.
  wanted.fixed = {};
  wanted.spacing = core::step_spacing::trailing;
  BOOST_TEST(!karras());
}

BOOST_AUTO_TEST_CASE(preparing_takes_longer_with_the_pixels_of_a_source) {
  profile known;
  known.prepare = std::chrono::milliseconds{5};
  known.source = std::chrono::milliseconds{100};
  core::request wanted;
  BOOST_TEST((prepare_time(known, wanted) == known.prepare));
  auto source = std::make_shared<core::source_images>();
  source->image_px = {2000, 500};
  source->mask_px = {1000, 500};
  wanted.source = source;
  BOOST_TEST((prepare_time(known, wanted) == std::chrono::milliseconds{155}));
}

BOOST_AUTO_TEST_SUITE_END()
