// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policies/modm/energy.hpp>
#include <atelier/planning/policies/modm/refinement.hpp>
#include <atelier/planning/policy.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::planning::modm;

BOOST_AUTO_TEST_SUITE(modm_refinement_test)

BOOST_AUTO_TEST_CASE(nearer_images_skip_more_from_their_threshold_on) {
  const auto table = published_table();
  const auto skip = [&](double s) {
    return allowed_skip(table, s, threshold_rule::from);
  };
  BOOST_TEST(skip(.2499) == 0u);
  BOOST_TEST(skip(.25) == 5u);
  BOOST_TEST(skip(.2699) == 5u);
  BOOST_TEST(skip(.27) == 10u);
  BOOST_TEST(skip(.28) == 15u);
  BOOST_TEST(skip(.2899) == 15u);
  BOOST_TEST(skip(.29) == 25u);
  BOOST_TEST(skip(.30) == 30u);
  BOOST_TEST(skip(1) == 30u);
  BOOST_TEST(skip(-1) == 0u);
  BOOST_TEST(skip(NAN) == 0u);
  BOOST_TEST(allowed_skip({}, 1, threshold_rule::from) == 0u);
}

BOOST_AUTO_TEST_CASE(other_step_counts_run_the_same_share_at_their_end) {
  for (const uint32_t k : {5u, 10u, 15u, 20u, 25u, 30u}) {
    const auto r = refine_with(50, k, 50);
    BOOST_REQUIRE(r.has_value());
    BOOST_TEST(r->first == k);
    BOOST_TEST(r->steps == 50 - k);
  }
  BOOST_TEST(refine_with(10, 5, 50)->steps == 9u);
  BOOST_TEST(refine_with(10, 30, 50)->steps == 4u);
  BOOST_TEST(refine_with(10, 30, 50)->first == 6u);
  BOOST_TEST(refine_with(4, 30, 50)->first == 2u);
  BOOST_TEST(refine_with(2, 50, 50)->steps == 1u);
  // Nothing is left out, so the variant cannot refine.
  BOOST_TEST(!refine_with(50, 0, 50).has_value());
  BOOST_TEST(!refine_with(4, 5, 50).has_value());
  BOOST_TEST(!refine_with(1, 30, 50).has_value());
}

// A plan counts with the steps that a leg runs.
BOOST_AUTO_TEST_CASE(a_refinement_has_the_steps_that_its_leg_runs) {
  leg hit;
  hit.from = origin::image;
  for (const uint32_t of : {4u, 10u, 28u, 50u})
    for (const uint32_t own : {1u, 2u, 4u, 10u, 20u, 50u})
      for (hit.skip = 1; hit.skip <= of; ++hit.skip) {
        hit.skip_of = of;
        core::recipe how;
        how.steps = own;
        how.strength = 1;
        how = refining(how, hit);
        const auto found = refine_with(own, hit.skip, of);
        BOOST_TEST(core::steps_to_run(how) == (found ? found->steps : own),
                   "skip " << hit.skip << " of " << of << ", own " << own);
        if (found)
          BOOST_TEST(found->first + found->steps == own);
      }
  // A profile of ten steps lets a variant of four skip half of them.
  BOOST_TEST(refine_with(4, 5, 10).value().steps == 2u);
}

BOOST_AUTO_TEST_CASE(published_skips_are_of_fifty_steps) {
  reuse_profile known;
  BOOST_TEST((table_in(known) == published_table()));
  known.steps = 10;
  const skip_table ten{{1, 0.25}, {2, 0.27}, {3, 0.28}, {5, 0.29}, {6, 0.3}};
  BOOST_TEST((table_in(known) == ten));
  known.images = {{5, 0.9}};
  BOOST_TEST((table_in(known) == known.images));
}

BOOST_AUTO_TEST_CASE(isotonic_fits_never_fall_and_keep_all_samples) {
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    std::vector<reuse_sample> samples(random.below(200));
    for (auto& s : samples)
      s = {std::floor(random.uniform() * 50) / 50, random.normal()};
    const auto blocks = isotonic(samples, 1 + random.below(30));
    size_t n = 0;
    for (size_t b = 0; b < blocks.size(); ++b) {
      n += blocks[b].samples;
      BOOST_REQUIRE(blocks[b].low <= blocks[b].mean);
      if (b > 0) {
        BOOST_REQUIRE(blocks[b].mean >= blocks[b - 1].mean - 1e-12);
        BOOST_REQUIRE(blocks[b].from > blocks[b - 1].from);
      }
    }
    BOOST_REQUIRE(n == samples.size());
  }
}

BOOST_AUTO_TEST_CASE(isotonic_fits_are_those_of_least_squares) {
  // The reference tries every way to cut few samples into blocks of one mean.
  for (size_t i = 0; i < test::scaled(10'000); ++i) {
    auto random = test::random_of(i);
    const size_t n = 1 + random.below(8);
    std::vector<reuse_sample> samples(n);
    // Some have equal similarities.
    for (size_t k = 0; k < n; ++k)
      samples[k] = {static_cast<double>(random.below(n)), random.normal()};
    const auto measured = samples;
    std::ranges::stable_sort(samples, {}, &reuse_sample::similarity);
    const auto cost = [&](size_t from, size_t to) {
      double sum = 0;
      double squares = 0;
      for (size_t k = from; k < to; ++k) {
        sum += samples[k].kept;
        squares += samples[k].kept * samples[k].kept;
      }
      return squares - sum * sum / static_cast<double>(to - from);
    };
    double best = HUGE_VAL;
    for (size_t cuts = 0; cuts < (size_t{1} << (n - 1)); ++cuts) {
      double total = 0;
      double before = -HUGE_VAL;
      size_t from = 0;
      bool rising = true;
      for (size_t k = 1; k <= n; ++k) {
        if (k < n && (cuts >> (k - 1) & 1) == 0)
          continue;
        rising = rising
              && (k == n || samples[k].similarity > samples[k - 1].similarity);
        double mean = 0;
        for (size_t at = from; at < k; ++at)
          mean += samples[at].kept / static_cast<double>(k - from);
        rising = rising && mean >= before - 1e-12;
        before = mean;
        total += cost(from, k);
        from = k;
      }
      if (rising)
        best = std::min(best, total);
    }
    double got = 0;
    size_t from = 0;
    for (const auto& b : isotonic(measured, 1)) {
      got += cost(from, from + b.samples);
      from += b.samples;
    }
    BOOST_REQUIRE_SMALL(got - best, 1e-9);
  }
}

BOOST_AUTO_TEST_CASE(a_threshold_hides_no_failures_of_its_own_similarity) {
  // Fifteen of those that repeat a prompt keep nothing. They are joined with
  // the samples of a lower similarity before the others come.
  std::vector<reuse_sample> samples(15, {1, 0});
  samples.resize(40, {1, 1});
  samples.insert(samples.begin(), 40, {0.5, 0.9});
  BOOST_TEST(!reliable_from(samples, 0.9));
  BOOST_TEST(isotonic(samples, 1).size() == 1u);
}

BOOST_AUTO_TEST_CASE(calibrated_thresholds_keep_the_quality) {
  auto random = test::random_of(0);
  // The kept quality rises with similarity and falls with the skip. From .25 +
  // skip / 500 on, .95 is kept.
  const auto measured = [&](uint32_t skip) {
    std::vector<reuse_sample> samples(10'000);
    for (auto& s : samples) {
      s.similarity = 0.2 + random.uniform() * 0.2;
      s.kept =
        0.95 + (s.similarity - 0.25 - skip / 500.0) + 0.03 * random.normal();
    }
    return samples;
  };
  std::vector<std::pair<uint32_t, std::optional<double>>> found;
  for (const uint32_t k : {5u, 15u, 30u})
    found.emplace_back(k, reliable_from(measured(k), kept_quality));
  const auto table = rising_table(std::move(found));
  BOOST_REQUIRE(table.size() == 3u);
  // The fit's own error here is about 0.004, and its lower bound is above.
  for (const auto& t : table)
    BOOST_TEST(std::abs(t.similarity - 0.25 - t.skip / 500.0) < 0.02);
  for (const auto& t : table) {
    // New hits at the threshold keep the quality.
    double kept = 0;
    size_t hits = 0;
    for (const auto& s : measured(t.skip))
      if (s.similarity >= t.similarity) {
        kept += s.kept;
        ++hits;
      }
    BOOST_TEST(kept / static_cast<double>(hits) >= 0.95);
  }
  // A skip that never keeps the quality has no threshold.
  BOOST_TEST(!reliable_from(measured(200), 0.95).has_value());
  BOOST_TEST(!reliable_from({}, 0.95).has_value());
  BOOST_TEST(!reliable_from({{0.3, 2.0}}, 0.95).has_value());
}

BOOST_AUTO_TEST_CASE(one_lucky_sample_decides_the_published_threshold) {
  const std::vector<reuse_sample> samples{
    {0.9, 1.0}, {0.5, 0.91}, {0.6, 0.1}, {0.4, 0.89}};
  BOOST_TEST(lowest_that_kept(samples, 0.9).value() == 0.5);
  BOOST_TEST(!lowest_that_kept(samples, 1.1).has_value());
  const auto table = rising_table({{10, 0.4}, {5, 0.6}, {15, {}}, {20, 0.7}});
  const skip_table expected{{5, 0.6}, {10, 0.6}, {20, 0.7}};
  BOOST_TEST((table == expected));
}

BOOST_AUTO_TEST_CASE(energy_is_power_over_time) {
  constexpr power of{300, 80, 120};
  BOOST_TEST(energy(of, {10, 5, 2}) == 3640.0);
  BOOST_TEST(energy_saved(500, 10, 2000, 20) == 0.5);
  BOOST_TEST(energy_saved(500, 0, 2000, 20) == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
