// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace atelier::bench {

/// Returns the time since `from`, in microseconds.
inline double microseconds_since(std::chrono::steady_clock::time_point from) {
  return std::chrono::duration<double, std::micro>(
           std::chrono::steady_clock::now() - from)
    .count();
}

/// Prints the median, the 99th percentile and the longest of some times.
/// Units: microseconds.
/// @pre !times.empty()
inline void print_times(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](size_t percent) {
    return times[(times.size() - 1) * percent / 100];
  };
  std::printf("%-36s p50 %9.0f us  p99 %9.0f us  max %9.0f us  (%zu)\n", what,
              at(50), at(99), times.back(), times.size());
}

} // namespace atelier::bench
