// SPDX-License-Identifier: Apache-2.0
#include "planning/full_profile.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>

#include <random>

using namespace atelier;
using test::full_profile;

namespace {

void check_fault(std::string_view what, std::string_view with,
                 std::string_view told) {
  auto text = planning::to_json(full_profile());
  const auto at = text.find(what);
  BOOST_TEST_REQUIRE(at != std::string::npos, what);
  text.replace(at, what.size(), with);
  const auto x = planning::parse_profile(text, "p");
  BOOST_TEST_REQUIRE(!x, with);
  BOOST_TEST(x.why().text == told);
}

} // namespace

BOOST_AUTO_TEST_SUITE(profile_sections_test)

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  const auto text = planning::to_json(full_profile());
  BOOST_TEST(text.find("\"version\": 2") != std::string::npos);
  const auto read = planning::parse_profile(text, "p");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST((*read == full_profile()));
}

BOOST_AUTO_TEST_CASE(times_of_stages_are_read_back) {
  planning::profile p;
  p.variants = full_profile().variants;
  for (auto& v : p.variants)
    v.busy_watts = 0;
  const auto without = planning::to_json(p);
  BOOST_TEST(without.find("stages") == std::string::npos);
  BOOST_TEST(without.find("\"version\": 1") != std::string::npos);
  p.stages = {{"mask", std::chrono::milliseconds{2}},
              {"upscale", {}, std::chrono::microseconds{40'500}}};
  const auto read = planning::parse_profile(planning::to_json(p), "p");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST((*read == p));
}

BOOST_AUTO_TEST_CASE(faults_of_stages_are_named) {
  const auto fault = [](std::string_view stages) {
    auto text = planning::to_json(full_profile());
    const std::string before = "\"masked\": ";
    const auto at = text.find(before);
    BOOST_TEST_REQUIRE(at != std::string::npos);
    text.insert(at, "\"stages\": " + std::string{stages} + ", ");
    const auto x = planning::parse_profile(text, "p");
    return x ? std::string{} : x.why().text;
  };
  BOOST_TEST(fault("{}") == "");
  BOOST_TEST(fault("[]") == "p: stages: is not an object");
  BOOST_TEST(fault(R"({"mask": 3})") == "p: stages.mask: is not an object");
  BOOST_TEST(fault(R"({"mask": {"mss": 3}})")
             == "p: stages.mask.mss: is not a known key");
  BOOST_TEST(fault(R"({"mask": {"ms": -1}})")
             == "p: stages.mask.ms: -1 is not a number in 0..86400000");
  BOOST_TEST(fault(R"({"finish": {"ms": 1}})")
             == "p: stages.finish: its time is finish_ms");
}

BOOST_AUTO_TEST_CASE(numbers_of_images_are_read_back) {
  auto p = full_profile();
  p.variants[0].step[0].samples = 12;
  p.variants[0].quality_images = 300;
  p.variants[0].quality_deviation = 0.25;
  p.ladders[1].levels[2].images = 7;
  p.cascades[0].fid_error = {0, 0.5, 0.25};
  const auto read = planning::parse_profile(planning::to_json(p), "p");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST((*read == p));
  p.cascades[0].fid_error = {0};
  p.variants[0].quality = 21;
  p.variants[0].quality_deviation = 0;
  p.variants[1].quality_deviation = 1;
  const auto faulty = planning::parse_profile(planning::to_json(p), "p");
  BOOST_TEST_REQUIRE(!faulty);
  BOOST_TEST(faulty.why().text
             == "p: variants[0].quality_deviation: is missing: only means in "
                "0..1 do without\n"
                "p: variants[1].quality_deviation: needs quality_pictures\n"
                "p: cascades[0].fid_error: has 1 values for 3 points");
}

BOOST_AUTO_TEST_CASE(measured_thresholds_are_read_back_with_their_evidence) {
  auto p = full_profile();
  auto& measured = p.reuse->measured.emplace();
  measured.encoder = "words";
  measured.encoder_revision = "0123456789abcdef";
  measured.scorer = "scorer";
  measured.alpha = 0.875;
  measured.stored = 25;
  measured.resumed = 100;
  measured.skips = {{5, 100, 1.0625, 0.25}, {10, 99, 0.5, std::nullopt}};
  const auto read = planning::parse_profile(planning::to_json(p), "p");
  BOOST_TEST_REQUIRE(read.operator bool());
  BOOST_TEST((*read == p));
  // A measurement may find that no skip keeps the quality.
  p.reuse->latents.clear();
  BOOST_TEST((*planning::parse_profile(planning::to_json(p), "p") == p));
  // Or that no image answers for another prompt.
  measured.answers = {90, -0.25};
  BOOST_TEST((*planning::parse_profile(planning::to_json(p), "p") == p));
  p.reuse->answers_from = 0.375;
  BOOST_TEST((*planning::parse_profile(planning::to_json(p), "p") == p));
  measured.alpha = 2;
  measured.stored = 0;
  measured.skips[1].skip = 5;
  measured.answers->images = 0;
  p.reuse->answers_from = 1.5;
  const auto faulty = planning::parse_profile(planning::to_json(p), "p");
  BOOST_TEST_REQUIRE(!faulty);
  BOOST_TEST(
    faulty.why().text
    == "p: reuse.answers_from: 1.5 is not a number in 0..1\n"
       "p: reuse.measured.alpha: 2.0 is not a number in 0..1\n"
       "p: reuse.measured.stored: 0 is not a whole number in 1..1000000000\n"
       "p: reuse.measured.answers.images: 0 is not a whole number in "
       "1..1000000000\n"
       "p: reuse.measured.skips[1]: skips no more than the one before");
}

BOOST_AUTO_TEST_CASE(the_first_version_has_no_sections) {
  auto text = planning::to_json(full_profile());
  text.replace(text.find("\"version\": 2"), 12, "\"version\": 1");
  const auto x = planning::parse_profile(text, "p");
  BOOST_TEST_REQUIRE(!x);
  BOOST_TEST(x.why().text.find("profile.ladders: is not a known key")
             != std::string::npos);
  planning::profile plain = full_profile();
  plain.ladders.clear();
  plain.cascades.clear();
  plain.reuse.reset();
  plain.masked.clear();
  plain.idle_watts = 0;
  for (auto& v : plain.variants)
    v.busy_watts = 0;
  BOOST_TEST(planning::to_json(plain).find("\"version\": 1")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(each_fault_is_told_with_its_place_and_range) {
  check_fault(
    "\"kind\": \"smaller_models\"", "\"kind\": \"smaller\"",
    "p: ladders[1].kind: \"smaller\" is not one of \"cached_latents\", "
    "\"smaller_models\"\np: ladders[1].kind: occurs twice");
  check_fault("\"light\": \"turbo@1\"", "\"light\": \"turbo@2\"",
              "p: cascades[0].light: \"turbo@2\" is not one of the file's "
              "variants");
  check_fault("\"deadline_ms\": 5000.0", "\"deadline_ms\": -1",
              "p: cascades[0].deadline_ms: -1 is not a number in 0..86400000");
  check_fault("\"similarity\": 0.95", "\"similarity\": 0.3",
              "p: reuse.latents[4]: skips no more, or at a lower similarity, "
              "than the one before");
  check_fault("\"skip\": 30", "\"skip\": \"30\"",
              "p: reuse.images[4].skip: \"30\" is not a whole number in "
              "1..10000\np: reuse.images[4]: skips no more, or at a lower "
              "similarity, than the one before");
  check_fault("\"accuracy\": 0.75", "\"accuracy\": 2",
              "p: ladders[0].accuracy: 2 is not a number in 0..1");
  check_fault("\"spread\": 0.125", "\"spread\": -1",
              "p: reuse.near.spread: -1 is not a number in 0..1");
  check_fault("\"recall\": 0.875", "\"recalls\": 0.875",
              "p: reuse.predictor.recalls: is not a known key\n"
              "p: reuse.predictor.recall: is missing");
  check_fault("\"blocks\": 16", "\"blocks\": 0",
              "p: masked[0].blocks: 0 is not a whole number in 1..16777216");
  check_fault("\"idle_watts\": 60.0", "\"idle_watts\": -3",
              "p: profile.idle_watts: -3 is not a number in 0..1000000");
  check_fault("\"judge\": \"eye\"", "\"judge\": 5",
              "p: cascades[0].judge: 5 is not a text");
}

BOOST_AUTO_TEST_CASE(lists_must_fit_together_and_rise) {
  auto p = full_profile();
  p.ladders[0].levels[1].class_quality.pop_back();
  p.ladders[0].class_shares = {1};
  p.cascades[0].deferred = {{0.5, 0.2}, {0.5, 0.3}, {0.6, 0.1}};
  const auto x = planning::parse_profile(planning::to_json(p), "p");
  BOOST_TEST_REQUIRE(!x);
  BOOST_TEST(x.why().text
             == "p: ladders[0].levels[1].class_quality: has 2 values for 3 "
                "classes\n"
                "p: ladders[0].class_shares: has 1 values for 3 classes\n"
                "p: cascades[0].deferred[1]: is not above the one "
                "before\n"
                "p: cascades[0].deferred[2]: defers fewer than the threshold "
                "before");
  p = full_profile();
  p.ladders[0].levels.clear();
  BOOST_TEST(!planning::parse_profile(planning::to_json(p), "p"));
}

BOOST_AUTO_TEST_CASE(changed_bytes_never_break_the_reader) {
  std::mt19937_64 random{test::seed()};
  const auto whole = planning::to_json(full_profile());
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
