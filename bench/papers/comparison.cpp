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

// Sums of the same numbers in another order differ by less than this.
constexpr double rounding = 1e-9;

// Formats a difference. One too small for the table's digits becomes "under
// ...".
std::string shown(double x, int digits) {
  const double least = 0.5 * std::pow(10, -digits);
  return x < least ? fmt::format("under {:.{}f}", 2 * least, digits)
                   : fmt::format("{:.{}f}", x, digits);
}

double mean_over(const std::vector<outcome>& all,
                 double (*value)(const outcome&)) {
  double sum = 0;
  for (const outcome& o : all)
    sum += value(o);
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

double violations(const outcome& o) {
  return o.violation_ratio();
}

// Returns `some` as a percentage of n requests, or 0 if n is 0.
double part(uint64_t some, uint64_t n) {
  return n == 0 ? 0 : 100 * static_cast<double>(some) / static_cast<double>(n);
}

std::string doings(const named_run& of) {
  const auto mean = [&](double (*value)(const outcome&)) {
    return mean_over(of.runs, value);
  };
  auto out = fmt::format(
    "{}: busy {:.0f} %, {:.2f} of {:.2f} s before the first step, {:.2f} % "
    "late, {:.2f} % dropped",
    of.name, mean([](auto& o) { return 100 * o.utilisation; }),
    mean([](auto& o) { return o.first_step_mean_ms / 1000; }),
    mean([](auto& o) { return o.latency_mean_ms / 1000; }),
    mean([](auto& o) { return part(o.late, o.requests); }),
    mean([](auto& o) { return part(o.dropped, o.requests); }));
  if (const double saved = mean([](auto& o) { return 100 * o.saved_steps; });
      saved > 0)
    out += fmt::format(", {:.1f} % of the steps saved", saved);
  if (const double loads =
        mean([](auto& o) { return static_cast<double>(o.loads); });
      loads > 0)
    out += fmt::format(", {:.0f} loads", loads);
  return out;
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

std::string what_they_did(const named_runs& of) {
  std::string out;
  for (const named_run& x : of)
    out += (out.empty() ? "" : "; ") + doings(x);
  if (of.size() < 2)
    return out;
  const auto* more = &of[0];
  if (mean_over(of[1].runs, violations) > mean_over(of[0].runs, violations))
    more = &of[1];
  const auto where = where_missed(more->runs);
  if (where.intervals > 0)
    out +=
      fmt::format("; nine tenths of what {} misses fall in {} of {} "
                  "intervals, with {:.2f} times the arrivals of the others",
                  more->name, where.intervals, where.of, where.crowded);
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

comparison compare(const named_runs& of, quality_figure figure) {
  const auto quality = figure == quality_figure::fid
                       ? +[](const outcome& o) { return o.fid; }
                       : +[](const outcome& o) { return o.quality_mean; };
  const auto figures = [&](const named_run& x) {
    return fared{mean_over(x.runs, violations), mean_over(x.runs, quality)};
  };
  return compare(figures(of[0]), figures(of[1]), figure,
                 where_missed(of[0].runs));
}

} // namespace atelier::runtime::detail
