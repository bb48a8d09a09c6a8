// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace atelier::planning::diffserve {

/// The number of thresholds that a plan can have: 0, 0.005, ..., 1.
/// Source: DiffServe's artifact.
inline constexpr size_t thresholds = 201;

constexpr double threshold_at(size_t k) {
  return static_cast<double>(k) / (thresholds - 1);
}

/// f by threshold: the fraction of light images whose confidence lies below it,
/// P(c < t_k). It starts at 0 and never falls.
using deferral_profile = std::array<double, thresholds>;

/// Returns the profile to use without data: everything is deferred at any
/// threshold above 0.
deferral_profile unknown_deferral();

/// Returns the profile through points (threshold, share): the value of a
/// threshold is that of the last point not above it. Points are sorted, and
/// values that fall or lie outside 0..1 are corrected upwards.
deferral_profile deferral_of(
  std::vector<std::pair<double, double>> threshold_and_share);

/// The confidences of light images, all of which are judged, in bins of 0.005.
struct deferral_counts {
  /// Bin k holds scores in [t_k, t_{k+1}); the last one holds the score 1.
  std::vector<double> bins = std::vector<double>(thresholds, 0.0);

  friend bool operator==(const deferral_counts&,
                         const deferral_counts&) = default;
};

/// Adds the confidences of windows, which are counted in the same bins.
void add_confidences(deferral_counts& to,
                     std::span<const demand_window> windows);

/// Halves all counts, so that old scores fade; policies call it every ten
/// minutes.
void fade(deferral_counts& counts);

/// Returns (n0 f0 + N(t)) / (n0 + N): the table weighs as much as `weight`
/// scores. Without table and scores, it returns unknown_deferral.
/// Source: DiffServe, section 3.3, updates f(t) online, by a rule that it does
/// not state.
deferral_profile blended(const deferral_profile* before,
                         const deferral_counts& counts, double weight = 200);

/// Returns the index of the largest threshold whose share is at most `share`.
size_t highest_within(const deferral_profile& f, double share);

/// Returns the index of the smallest threshold with the share of `k`.
size_t lowest_equal(const deferral_profile& f, size_t k);

/// Returns the confidence below which a fraction `u` of images lies: the
/// inverse of f, for drawing confidences.
double confidence_at(const deferral_profile& f, double u);

} // namespace atelier::planning::diffserve
