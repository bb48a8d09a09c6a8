// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/solver/transport.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning::argus {

/// A level is good if it keeps this share of a prompt's best score.
/// Source: Argus, section 3.
inline constexpr double tolerated_share = 0.9;

/// Predictions that the histogram of classes looks back on.
/// Source: Argus, section 4.2.
inline constexpr size_t histogram_length = 1000;

/// Returns the level that a prompt tolerates: the fastest one whose score is no
/// lower than the best less 1 - share of its magnitude. `scores` go with the
/// ladder, best level first, and are not empty; what is not a number is never
/// good.
/// Source: Argus, section 3: q_v > delta max(q), here no less.
uint32_t tolerated_level(std::span<const double> scores,
                         double share = tolerated_share);

/// Returns D[i][j]: the mean share of quality that prompts of class i lose on
/// level j, max(0, q_i - q_j) / |q_i|; 0 where j is no faster than i. A class
/// without prompts takes the mean over all prompts.
/// `scores` has a row for each prompt and a column for each level.
/// Source: Argus, Eq. 2, which leaves the form of D open.
table degradation(const table& scores, double share = tolerated_share);

/// Returns q[c][v], the mean score of level v over prompts of class c; of a
/// class without prompts the mean over all.
table class_quality(const table& scores, double share = tolerated_share);

/// The classes predicted last, at most histogram_length of them.
struct recent_classes {
  std::vector<uint32_t> last;
  /// Where the next one goes once the list is full.
  size_t next = 0;

  friend bool operator==(const recent_classes&,
                         const recent_classes&) = default;
};

void note(recent_classes& into, uint32_t predicted);

/// Returns the share of each class among `recent`; where nothing was predicted
/// yet `before`, which comes from training. Classes beyond `levels` count as
/// the last.
std::vector<double> histogram(const recent_classes& recent, size_t levels,
                              std::span<const double> before);

/// Returns the sum of squared differences between two distributions.
double squared_error(std::span<const double> a, std::span<const double> b);

} // namespace atelier::planning::argus
