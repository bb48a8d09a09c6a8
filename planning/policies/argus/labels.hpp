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

/// The number of predictions in the histogram of classes.
/// Source: Argus, section 4.2.
inline constexpr size_t histogram_length = 1000;

/// Returns the level that a prompt tolerates: the fastest one whose score is no
/// lower than the best less 1 - share of its magnitude. `scores` are in the
/// ladder's order, best level first, and not empty; NaN is never good.
/// Source: Argus, section 3: q_v > delta max(q); here >=.
uint32_t tolerated_level(std::span<const double> scores,
                         double share = tolerated_share);

/// Returns q[c][v], the mean score of level v over prompts of class c; for a
/// class without prompts, the mean over all.
table class_quality(const table& scores, double share = tolerated_share);

/// The most recently predicted classes, at most histogram_length of them.
struct recent_classes {
  std::vector<uint32_t> last;
  /// The place of the next one once the list is full.
  size_t next = 0;

  friend bool operator==(const recent_classes&,
                         const recent_classes&) = default;
};

void note(recent_classes& into, uint32_t predicted);

/// Returns the share of each class among `recent`; without predictions it
/// returns `before`, which comes from training. Classes above `levels` count as
/// the last.
std::vector<double> histogram(const recent_classes& recent, size_t levels,
                              std::span<const double> before);

} // namespace atelier::planning::argus
