// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/reuse/measured_skips.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

using namespace atelier::planning;

namespace {

/// Returns 100 samples with similarities 0.01..1, which keep `high` at and
/// above `from` and `low` below it.
skip_samples step_at(uint32_t skip, double from, double low, double high) {
  skip_samples out;
  out.skip = skip;
  for (int i = 1; i <= 100; ++i) {
    const double similarity = i / 100.0;
    out.samples.push_back({similarity, similarity >= from ? high : low});
  }
  return out;
}

const skip_evidence& evidence_of(const measured_skips& x, uint32_t skip) {
  for (const auto& one : x.evidence)
    if (one.skip == skip)
      return one;
  BOOST_FAIL("no evidence of this skip");
  return x.evidence.front();
}

} // namespace

BOOST_AUTO_TEST_SUITE(measured_skips_test)

BOOST_AUTO_TEST_CASE(
  a_threshold_lies_just_below_the_least_similarity_that_keeps) {
  const std::vector<skip_samples> all{step_at(5, 0.3, 0.5, 1)};
  const auto found = thresholds_of(all, 0.9);
  BOOST_TEST_REQUIRE(found.latents.size() == 1u);
  BOOST_TEST(found.latents[0].skip == 5u);
  BOOST_TEST(found.latents[0].similarity < 0.3);
  BOOST_TEST(found.latents[0].similarity > 0.299);
  // Policies skip above the threshold.
  BOOST_TEST(allowed_skip(found.latents, 0.3, threshold_rule::above) == 5u);
  BOOST_TEST(allowed_skip(found.latents, 0.29, threshold_rule::above) == 0u);
}

BOOST_AUTO_TEST_CASE(a_prompt_that_repeats_another_may_be_the_only_one) {
  // A threshold of 1 would exclude every similarity.
  std::vector<skip_samples> all{step_at(25, 2, 0.25, 1)};
  for (int i = 0; i < 30; ++i)
    all[0].samples.push_back({1, 1});
  all[0].samples.erase(all[0].samples.begin() + 99);
  const auto found = thresholds_of(all, 0.9);
  BOOST_TEST_REQUIRE(found.latents.size() == 1u);
  BOOST_TEST(allowed_skip(found.latents, 1, threshold_rule::above) == 25u);
  BOOST_TEST(allowed_skip(found.latents, 0.99, threshold_rule::above) == 0u);
}

BOOST_AUTO_TEST_CASE(a_larger_skip_never_has_a_lower_threshold) {
  const std::vector<skip_samples> all{
    step_at(25, 0.3, 0, 1), step_at(5, 0.25, 0, 1), step_at(10, 0.6, 0, 1)};
  const auto found = thresholds_of(all, 0.9);
  BOOST_TEST_REQUIRE(found.latents.size() == 3u);
  BOOST_TEST(found.latents[0].skip == 5u);
  BOOST_TEST(found.latents[1].skip == 10u);
  BOOST_TEST(found.latents[2].skip == 25u);
  BOOST_TEST(found.latents[2].similarity == found.latents[1].similarity);
}

BOOST_AUTO_TEST_CASE(a_skip_that_keeps_too_little_has_no_threshold) {
  const std::vector<skip_samples> all{step_at(5, 0, 1, 1),
                                      step_at(25, 2, 0.8, 0.8)};
  const auto found = thresholds_of(all, 0.9);
  BOOST_TEST_REQUIRE(found.latents.size() == 1u);
  BOOST_TEST(found.latents[0].skip == 5u);
  BOOST_TEST_REQUIRE(found.evidence.size() == 2u);
  const auto& poor = evidence_of(found, 25);
  BOOST_TEST(poor.images == 100u);
  BOOST_TEST(poor.kept == 0.8, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(!poor.lowest_kept.has_value());
  // This share is smaller, so more skips keep it.
  BOOST_TEST(thresholds_of(all, 0.75).latents.size() == 2u);
}

BOOST_AUTO_TEST_CASE(one_lucky_image_decides_only_as_published) {
  auto one = step_at(5, 0.5, 0.2, 1);
  one.samples[9].kept = 1;
  const auto found = thresholds_of(std::vector{one}, 0.9);
  BOOST_TEST(evidence_of(found, 5).lowest_kept.value() == 0.1);
  BOOST_TEST(found.latents.front().similarity > 0.4);
}

BOOST_AUTO_TEST_CASE(an_image_keeps_what_it_has_above_chance) {
  const auto tolerance = boost::test_tools::tolerance(1e-12);
  const quality_levels means{0.8, 0.6};
  BOOST_TEST(kept_of(0.8, 0.8, means) == 1.0, tolerance);
  BOOST_TEST(kept_of(0.75, 0.8, means) == 0.75, tolerance);
  BOOST_TEST(std::abs(kept_of(0.6, 0.8, means)) < 1e-12);
  BOOST_TEST(kept_of(0.5, 0.8, means) == -0.5, tolerance);
  // What counts is the difference to the prompt's own full run.
  BOOST_TEST(kept_of(0.25, 0.3, means) == 0.75, tolerance);
}

BOOST_AUTO_TEST_SUITE_END()
