// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace atelier::test {

/// What an attacker measured, and what the attacker wants to know.
struct measurement {
  double value = 0;
  bool is_hit = false;
};

/// Says "hit" on one side of a bound.
struct threshold {
  double bound = 0;
  bool hits_are_below = true;

  bool says_hit(double value) const {
    return hits_are_below ? value < bound : value > bound;
  }

  double accuracy_on(std::span<const measurement> all) const {
    const auto right = std::ranges::count_if(
      all, [&](const auto& x) { return says_hit(x.value) == x.is_hit; });
    return static_cast<double>(right) / static_cast<double>(all.size());
  }
};

/// Returns the threshold that is right most often.
/// @pre there are measurements
inline threshold best_threshold(std::span<const measurement> from) {
  std::vector<measurement> sorted(from.begin(), from.end());
  std::ranges::sort(sorted, {}, &measurement::value);
  const auto hits = static_cast<std::ptrdiff_t>(
    std::ranges::count_if(sorted, &measurement::is_hit));
  const auto misses = std::ssize(sorted) - hits;
  threshold best{sorted.front().value, true};
  // Nothing is below the first value.
  auto most = misses;
  std::ptrdiff_t hits_below = 0;
  for (std::ptrdiff_t i = 0; i < std::ssize(sorted); ++i) {
    const auto at = static_cast<size_t>(i);
    hits_below += sorted[at].is_hit ? 1 : 0;
    // Equal values are on one side.
    if (at + 1 < sorted.size() && sorted[at + 1].value <= sorted[at].value)
      continue;
    const auto bound = at + 1 < sorted.size()
                       ? std::midpoint(sorted[at].value, sorted[at + 1].value)
                       : sorted[at].value + 1;
    const auto misses_below = i + 1 - hits_below;
    if (const auto right = hits_below + misses - misses_below; right > most) {
      most = right;
      best = {bound, true};
    }
    if (const auto right = misses_below + hits - hits_below; right > most) {
      most = right;
      best = {bound, false};
    }
  }
  return best;
}

/// The share of right answers of a threshold that half of the measurements
/// chose, about the other half.
struct judgement {
  double accuracy = 0;
  /// Half of the 95 % interval about an accuracy of 0.5.
  double interval = 0;

  bool tells() const {
    return std::abs(accuracy - 0.5) > interval;
  }
};

/// @pre there are at least two measurements
inline judgement judged(std::span<const measurement> all) {
  const auto half = all.size() / 2;
  const auto others = all.subspan(half);
  constexpr double deviations = 1.96;
  return {best_threshold(all.first(half)).accuracy_on(others),
          deviations * std::sqrt(0.25 / static_cast<double>(others.size()))};
}

} // namespace atelier::test
