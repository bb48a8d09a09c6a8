// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/comparison.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace atelier::runtime::detail {

namespace {

// Sums of the same numbers in another order differ by less.
constexpr double rounding = 1e-9;

// A difference of no size that the table shows is called so.
std::string shown(double x, int digits) {
  const double least = 0.5 * std::pow(10, -digits);
  return x < least ? fmt::format("under {:.{}f}", 2 * least, digits)
                   : fmt::format("{:.{}f}", x, digits);
}

} // namespace

missed where_missed(std::span<const outcome> runs) {
  struct counts {
    uint64_t bad = 0;
    uint64_t arrived = 0;
  };

  std::vector<counts> all;
  uint64_t bad = 0;
  uint64_t arrived = 0;
  for (const outcome& o : runs)
    for (const interval& i : o.series)
      if (i.arrived > 0) {
        all.push_back({i.late + i.dropped, i.arrived});
        bad += i.late + i.dropped;
        arrived += i.arrived;
      }
  missed out;
  out.of = all.size();
  if (bad == 0)
    return out;
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.bad > b.bad; });
  uint64_t held = 0;
  uint64_t came = 0;
  while (held * 10 < bad * 9) {
    held += all[out.intervals].bad;
    came += all[out.intervals].arrived;
    ++out.intervals;
  }
  const auto mean = [](uint64_t sum, size_t n) {
    return static_cast<double>(sum) / static_cast<double>(n);
  };
  if (out.intervals < out.of)
    out.crowded =
      mean(came, out.intervals) / mean(arrived - came, out.of - out.intervals);
  return out;
}

comparison compare(const fared& ours, const fared& theirs, quality_figure of,
                   const missed& ours_missed) {
  const bool is_fid = of == quality_figure::fid;
  const double more = ours.violations - theirs.violations;
  const double worse =
    is_fid ? ours.quality - theirs.quality : theirs.quality - ours.quality;
  const bool violates_more = more > rounding;
  const bool violates_less = more < -rounding;
  const bool is_worse = worse > rounding;
  const bool is_better = worse < -rounding;
  if (!violates_more && !is_worse && (violates_less || is_better))
    return {true, {}};
  const auto points = shown(100 * std::abs(more), 2);
  const auto quality = fmt::format("{} {}", is_fid ? "FID" : "quality",
                                   shown(std::abs(worse), is_fid ? 2 : 4));
  const auto* lower = is_fid ? "higher" : "lower";
  const auto* higher = is_fid ? "lower" : "higher";
  std::string where;
  if (violates_more && ours_missed.intervals > 0)
    where =
      fmt::format("; nine tenths of ours fall in {} of {} intervals, with "
                  "{:.2f} times the arrivals of the others",
                  ours_missed.intervals, ours_missed.of, ours_missed.crowded);
  if (violates_more && is_worse)
    return {false, fmt::format("worse in both: {} points more violations, {} {}"
                               "{}",
                               points, quality, lower, where)};
  if (violates_more && is_better)
    return {false, fmt::format("a trade: ours has {} {} for {} points more "
                               "violations{}",
                               quality, higher, points, where)};
  if (violates_more)
    return {false,
            fmt::format("{} points more violations at the same quality{}",
                        points, where)};
  if (is_worse && violates_less)
    return {false, fmt::format("a trade: theirs has {} {} for {} points more "
                               "violations",
                               quality, higher, points)};
  if (is_worse)
    return {false, fmt::format("{} {} at the same violations", quality, lower)};
  return {false, ours.violations > 0
                   ? "equal in both figures"
                   : "equal in both figures: neither misses a deadline"};
}

} // namespace atelier::runtime::detail
