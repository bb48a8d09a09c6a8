// SPDX-License-Identifier: Apache-2.0
#include "full_profile.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <random>

using namespace atelier;

namespace {

planning::profile sample() {
  planning::profile x;
  x.prepare = std::chrono::milliseconds{5};
  x.finish = std::chrono::microseconds{20'500};
  x.source = std::chrono::milliseconds{90};
  auto v = *planning::parse_variant("base@50/bf16");
  v.native_px = {512, 768};
  v.latent_channels = 16;
  v.latent_factor = 4;
  v.sampler = core::sampler::dpmpp_2m;
  v.karras = true;
  v.guidance = 5.5f;
  v.quality = 0.75;
  v.text = std::chrono::milliseconds{7};
  v.decode = std::chrono::milliseconds{80};
  v.load = std::chrono::seconds{3};
  v.memory_bytes = 123'456'789'012;
  v.step = {{1, 512 * 768, std::chrono::microseconds{1500}},
            {4, 512 * 768, std::chrono::microseconds{4500}}};
  x.variants.push_back(v);
  v.name = "base@20";
  v.steps = 20;
  v.precision = core::dtype::float32;
  x.variants.push_back(v);
  return x;
}

std::string replaced(std::string_view what, std::string_view with) {
  auto text = planning::to_json(sample());
  const auto at = text.find(what);
  BOOST_TEST_REQUIRE(at != std::string::npos, what);
  return text.replace(at, what.size(), with);
}

void check_fault(std::string_view what, std::string_view with,
                 std::string_view told) {
  const auto x = planning::parse_profile(replaced(what, with), "p.json");
  BOOST_TEST_REQUIRE(!x, with);
  BOOST_TEST((x.why().code == core::ec::bad_payload));
  BOOST_TEST(x.why().text == told);
}

} // namespace

BOOST_AUTO_TEST_SUITE(profile_file_test)

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  const auto read = planning::parse_profile(planning::to_json(sample()), "p");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST((*read == sample()));
}

BOOST_AUTO_TEST_CASE(files_without_a_cost_of_sources_are_read) {
  auto x = sample();
  const auto old = planning::to_json(x);
  BOOST_TEST(old.find("encode_ms") == std::string::npos);
  const auto read = planning::parse_profile(old, "p");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST((read->variants[0].encode == core::timespan{0}));
  x.variants[0].encode = std::chrono::milliseconds{45};
  const auto now = planning::parse_profile(planning::to_json(x), "p");
  BOOST_TEST_REQUIRE(now.operator bool());
  BOOST_TEST((*now == x));
}

BOOST_AUTO_TEST_CASE(the_instruction_set_of_a_measurement_is_read_back) {
  auto x = sample();
  // Files of other devices, and older ones, do not name it.
  BOOST_TEST(planning::to_json(x).find("instruction_set") == std::string::npos);
  x.measured_with = core::instruction_set::avx512;
  const auto text = planning::to_json(x);
  BOOST_TEST(text.find(R"("instruction_set": "avx512")") != std::string::npos);
  const auto read = planning::parse_profile(text, "p");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST((*read == x));
}

BOOST_AUTO_TEST_CASE(an_unknown_instruction_set_is_refused) {
  for (const auto* value : {R"("avx3")", "7"})
    check_fault(
      R"("prepare_ms": 5.0)",
      fmt::format(R"("prepare_ms": 5.0, "instruction_set": {})", value),
      fmt::format("p.json: profile.instruction_set: {} is not an "
                  "instruction set",
                  value));
}

BOOST_AUTO_TEST_CASE(what_rows_of_distilled_models_take_is_read_back) {
  auto x = sample();
  const auto usual = planning::to_json(x);
  BOOST_TEST(usual.find("embeds_guidance") == std::string::npos);
  BOOST_TEST(usual.find("lcm_steps") == std::string::npos);
  x.variants[0].embeds_guidance = true;
  x.variants[1].lcm_steps = core::share_steps::cut;
  BOOST_TEST(planning::to_json(x).find("lcm_steps") == std::string::npos);
  x.variants[1].sampler = core::sampler::lcm;
  const auto read = planning::parse_profile(planning::to_json(x), "p");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST((*read == x));
}

BOOST_AUTO_TEST_CASE(how_rows_take_places_is_a_flag_and_steps_have_a_name) {
  check_fault(R"("karras": true)", R"("embeds_guidance": 1, "karras": true)",
              "p.json: variants[0].embeds_guidance: is neither true nor false");
  check_fault(R"("karras": true)", R"("lcm_steps": "all", "karras": true)",
              "p.json: variants[0].lcm_steps: \"all\" is neither \"spread\" "
              "nor \"cut\"");
}

BOOST_AUTO_TEST_CASE(edits_by_the_published_plan_are_read_back) {
  auto x = test::full_profile();
  const auto text = planning::to_json(x);
  BOOST_TEST(text.find("published_plan") == std::string::npos);
  BOOST_TEST_REQUIRE(x.masked.size() == 1u);
  x.masked[0].published_plan = true;
  const auto read = planning::parse_profile(planning::to_json(x), "p");
  BOOST_REQUIRE(read);
  BOOST_TEST(read->masked[0].published_plan);
}

BOOST_AUTO_TEST_CASE(a_quality_that_nobody_measured_stays_unknown) {
  auto x = sample();
  x.variants[0].rated = false;
  x.variants[0].quality = 1;
  const auto read = planning::parse_profile(planning::to_json(x), "p");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST(!read->variants[0].rated);
  BOOST_TEST(read->variants[0].quality == 1.0);
  BOOST_TEST(read->variants[1].rated);
}

BOOST_AUTO_TEST_CASE(load_times_are_one_or_a_distribution) {
  auto x = sample();
  using std::chrono::seconds;
  x.variants[0].loads =
    planning::load_times{seconds{20}, seconds{40}, seconds{50}};
  x.variants[0].load = planning::mean_of(*x.variants[0].loads);
  const auto text = planning::to_json(x);
  const auto read = planning::parse_profile(text, "p");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST((*read == x));
  BOOST_TEST(!read->variants[1].loads.has_value());
  const auto fault = [&](std::string_view from, std::string_view to) {
    auto changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto refused = planning::parse_profile(changed, "p");
    BOOST_TEST_REQUIRE(!refused);
    return refused.why().text;
  };
  BOOST_TEST(fault("\"p90\": 40000", "\"p90\": 4000")
             == "p: variants[0].load_ms: falls from p50 over p90 to p99");
  BOOST_TEST(fault("\"p99\": 50000", "\"p95\": 50000").find("p99: is missing")
             != std::string::npos);
  BOOST_TEST(fault("\"p99\": 50000", "\"p99\": -1")
               .find("p: variants[0].load_ms.p99: -1.0 is not a number in 0..")
             == 0u);
}

BOOST_AUTO_TEST_CASE(each_fault_is_told_with_its_place_and_range) {
  check_fault("\"ms\": 1.5", "\"ms\": -1.5",
              "p.json: variants[0].step[0].ms: -1.5 is not a number in "
              "1e-06..86400000");
  check_fault("\"batch\": 4", "\"batch\": 0",
              "p.json: variants[0].step[1].batch: 0 is not a whole number in "
              "1..4096");
  check_fault("\"batch\": 4", "\"batch\": 1",
              "p.json: variants[0].step[1]: measures the same batch and pixels "
              "as one before");
  check_fault("\"guidance\": 5.5", "\"guidance\": \"much\"",
              "p.json: variants[0].guidance: \"much\" is not a number in "
              "0..1000");
  check_fault("dpmpp_2m", "dpm",
              "p.json: variants[0].sampler: \"dpm\" is not a "
              "sampler");
  check_fault("base@20", "base@50/bf16",
              "p.json: variants[1].name: 'base@50/bf16' occurs twice");
  check_fault("\"load_ms\"", "\"lod_ms\"",
              "p.json: variants[0].lod_ms: is not a known key");
  check_fault("atelier.profile", "other",
              "p.json: profile.format: \"other\" is not \"atelier.profile\"");
  check_fault("\"version\": 1", "\"version\": 3",
              "p.json: profile.version: 3 is not 1 or 2");
}

BOOST_AUTO_TEST_CASE(all_faults_are_told_at_once) {
  const auto x = planning::parse_profile(
    R"({"format": "atelier.profile", "variants": [{"step": []}, 5]})", "p");
  BOOST_TEST_REQUIRE(!x);
  BOOST_TEST(x.why().text
             == "p: profile.version: is missing\n"
                "p: variants[0].name: is missing\n"
                "p: variants[0].step: is not a list of at least one point\n"
                "p: variants[1]: is not an object");
}

BOOST_AUTO_TEST_CASE(what_is_no_profile_is_refused) {
  for (const auto* text :
       {"", "{", "[]", "5", "null", "{}", "{\"variants\": null}", "nan"})
    BOOST_TEST(!planning::parse_profile(text, "p"), text);
  BOOST_TEST(!planning::parse_profile(std::string(1'000'000, '['), "p"));
  BOOST_TEST(!planning::parse_profile(
    std::string(planning::most_profile_bytes + 1, ' '), "p"));
}

BOOST_AUTO_TEST_CASE(changed_bytes_never_break_the_reader) {
  std::mt19937_64 random{test::seed()};
  const auto whole = planning::to_json(sample());
  for (uint64_t i = 0; i < test::scaled(100'000); ++i) {
    auto text = whole;
    for (auto n = 1 + random() % 4; n > 0; --n)
      text[random() % text.size()] = static_cast<char>(random());
    const auto x = planning::parse_profile(text, "p");
    if (x)
      BOOST_TEST(!x->variants.empty());
    else
      BOOST_TEST(!x.why().text.empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
