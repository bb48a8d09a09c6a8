// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atelier::planning::argus {

/// The rules by which a classifier counts as degraded.
/// Source: Argus, sections 4.1 and 5.5: retrain when the median score of a
/// window lies below the moving average of earlier windows. The paper does not
/// state window, history and margin: without a margin, half of all windows
/// would cause retraining.
struct drift_rules {
  /// The number of served images in a window.
  size_t window = 1000;
  /// The number of earlier medians in the mean.
  size_t history = 8;
  /// How far the median must lie below the mean, in standard errors of a
  /// window's median.
  double margin = 2;
  /// The number of windows after a signal without another signal.
  size_t rest = 1;

  friend bool operator==(const drift_rules&, const drift_rules&) = default;
};

/// The scores since the last window, and the medians of earlier windows.
struct drift_state {
  std::vector<double> scores;
  std::vector<double> medians;
  size_t resting = 0;

  friend bool operator==(const drift_state&, const drift_state&) = default;
};

/// Adds one image's score; NaN is ignored. Returns whether the score ends a
/// window whose median has fallen. The earlier windows are then forgotten,
/// since later ones belong to another classifier.
bool note_score(drift_state& state, double score,
                const drift_rules& rules = {});

/// Returns the standard error of the median of a sample, assuming a normal
/// distribution: sqrt(pi / 2) s / sqrt(n); 0 for fewer than two values.
double median_error(const std::vector<double>& values);

} // namespace atelier::planning::argus
