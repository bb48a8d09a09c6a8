// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace atelier::core {

/// A point on the actors' clock. Only the clock seam reads the system's time.
using time_point = std::chrono::steady_clock::time_point;
/// A span on the actors' clock, in nanoseconds.
using timespan = std::chrono::nanoseconds;

/// Marks a request without a deadline.
inline constexpr time_point never = time_point::max();

/// Returns `x` in milliseconds, for reports.
constexpr double to_ms(timespan x) {
  return std::chrono::duration<double, std::milli>(x).count();
}

/// Returns `x` in seconds, for models and estimates.
constexpr double to_seconds(timespan x) {
  return std::chrono::duration<double>(x).count();
}

/// Returns the span of `seconds`, saturated at the ends of the range. NaN gives
/// zero.
constexpr timespan from_seconds(double seconds) {
  constexpr double most = 9.2e9;
  if (!(seconds == seconds))
    return timespan{0};
  if (seconds >= most)
    return timespan::max();
  if (seconds <= -most)
    return timespan::min();
  return timespan{static_cast<int64_t>(seconds * 1e9)};
}

/// Returns `from + by`, or `never` if the sum would leave the clock's range.
constexpr time_point after(time_point from, timespan by) {
  // If `from` is before the clock's zero, the difference would leave the range.
  if (from == never || (from > time_point{} && by > never - from))
    return never;
  return from + by;
}

} // namespace atelier::core
