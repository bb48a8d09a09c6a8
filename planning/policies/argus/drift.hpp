// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atelier::planning::argus {

/// When a classifier has become worse than it was.
/// Source: Argus, sections 4.1 and 5.5: retrain when the median score of a
/// window lies below the moving average of earlier windows. Window, history and
/// margin are not stated there: without a margin half of all windows would do.
struct drift_rules {
  /// Served pictures in a window.
  size_t window = 1000;
  /// Earlier medians that the mean is taken of.
  size_t history = 8;
  /// How far below, in standard errors of a window's median.
  double margin = 2;
  /// Windows after a signal in which there is no other.
  size_t rest = 1;

  friend bool operator==(const drift_rules&, const drift_rules&) = default;
};

/// The scores since the last window, and the windows before.
struct drift_state {
  std::vector<double> scores;
  std::vector<double> medians;
  size_t resting = 0;

  friend bool operator==(const drift_state&, const drift_state&) = default;
};

/// Adds one picture's score; what is not a number is left out. Returns whether
/// it ends a window whose median has fallen. The windows before are forgotten
/// then: those after are of another classifier.
bool note_score(drift_state& state, double score,
                const drift_rules& rules = {});

/// Returns the standard error of the median of a sample, as of a normal
/// distribution: sqrt(pi / 2) s / sqrt(n); 0 below two values.
double median_error(const std::vector<double>& values);

} // namespace atelier::planning::argus
