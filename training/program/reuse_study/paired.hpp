// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace atelier::runtime::reuse_study {

/// One request's values by two systems.
struct pair_of_values {
  double a = 0;
  double b = 0;
  /// Pairs of one group may depend on each other: the requests of a session.
  uint64_t group = 0;
};

/// The mean of a - b.
struct paired_difference {
  size_t pairs = 0;
  double mean = 0;
  /// Half of the two-sided 95 % interval; nothing with fewer than two groups.
  std::optional<double> half;

  double low() const {
    return mean - half.value_or(0);
  }

  double high() const {
    return mean + half.value_or(0);
  }

  /// Whether the interval lies above 0, or below it.
  bool is_above() const {
    return half && low() > 0;
  }

  bool is_below() const {
    return half && high() < 0;
  }
};

/// Returns the mean difference with an interval that holds if the pairs of a
/// group depend on each other: the variance is that of the groups' sums of
/// deviations, by the normal distribution.
/// Source: Liang and Zeger, Longitudinal data analysis using generalized linear
/// models (Biometrika 73, 1986), for a mean, times G / (G - 1) for G groups.
paired_difference difference_of(std::span<const pair_of_values> all);

} // namespace atelier::runtime::reuse_study
