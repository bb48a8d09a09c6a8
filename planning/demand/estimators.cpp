// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/demand/estimators.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::planning {

double arrival_rate(std::span<const demand_window> windows, double alpha) {
  ATELIER_EXPECTS(alpha > 0 && alpha <= 1, "a weight in (0, 1]");
  double sum = 0;
  double weights = 0;
  for (const demand_window& w : windows) {
    const double seconds = core::to_seconds(w.length);
    if (!(seconds > 0))
      continue;
    const double rate = static_cast<double>(w.arrived) / seconds;
    sum = (1 - alpha) * sum + alpha * rate;
    weights = (1 - alpha) * weights + alpha;
  }
  return weights > 0 ? sum / weights : 0;
}

namespace {

// With a steady load, one half in twenty is off by more.
constexpr double deviations_of_chance = 2;

} // namespace

recent recent_rate(std::span<const demand_window> windows) {
  struct sum {
    double arrived = 0;
    double seconds = 0;
  };

  // The arrivals and seconds of the newest n windows, by n.
  std::vector<sum> newest{{}};
  for (size_t i = windows.size(); i-- > 0;)
    if (const double t = core::to_seconds(windows[i].length); t > 0)
      newest.push_back(
        {newest.back().arrived + static_cast<double>(windows[i].arrived),
         newest.back().seconds + t});
  const size_t all = newest.size() - 1;
  if (all == 0)
    return {};
  size_t n = 1;
  while (n < all) {
    const sum& newer = newest[n];
    const sum& both = newest[std::min(2 * n, all)];
    // The arrivals that the older part would have at the newer one's rate.
    const double older = both.arrived - newer.arrived;
    const double part = (both.seconds - newer.seconds) / newer.seconds;
    const double alike = newer.arrived * part;
    const double chance = std::sqrt(older + part * alike);
    if (std::abs(older - alike) > deviations_of_chance * chance + 1e-9)
      break;
    n = std::min(2 * n, all);
  }
  return {newest[n].arrived / newest[n].seconds,
          std::sqrt(newest[n].arrived) / newest[n].seconds, newest[n].seconds};
}

steady_rate with(steady_rate before, std::span<const demand_window> windows,
                 double fading) {
  ATELIER_EXPECTS(fading > 0, "counts fade in a time above 0");
  constexpr double deviations_of_jump = 4;
  for (const demand_window& w : windows) {
    const auto end = core::after(w.begin, w.length);
    const double seconds = core::to_seconds(w.length);
    if (end <= before.seen || !(seconds > 0))
      continue;
    const double keeps = std::exp(-seconds / fading);
    before.arrived = before.arrived * keeps + static_cast<double>(w.arrived);
    before.seconds = before.seconds * keeps + seconds;
    before.seen = end;
  }
  const recent newest = recent_rate(windows);
  if (!(before.seconds > 0) || !(newest.seconds > 0))
    return before;
  // Twice the root of a count has a standard deviation of 1, whatever the mean.
  // The expectation for the newest part is itself a count, over a longer time.
  constexpr double few = 0.375;
  const double came = newest.rate * newest.seconds;
  const double earlier = before.seconds - newest.seconds;
  if (!(earlier > 0))
    return before;
  const double part = newest.seconds / earlier;
  const double expected = std::max(before.arrived - came, 0.0) * part;
  const double off =
    2 * std::abs(std::sqrt(came + few) - std::sqrt(expected + few));
  if (off > deviations_of_jump * std::sqrt(1 + part)) {
    before.seconds = newest.seconds;
    before.arrived = newest.rate * newest.seconds;
  }
  return before;
}

double alpha_of_centre(double samples) {
  return 1 / (1 + std::max(samples, 0.0));
}

moving_mean with(moving_mean before, double x, double alpha) {
  before.value = before.any ? before.value + alpha * (x - before.value) : x;
  before.any = true;
  return before;
}

slow_switch with(slow_switch before, bool now_on, uint32_t periods) {
  if (now_on == before.on) {
    before.run = 0;
    return before;
  }
  if (++before.run >= periods)
    before = {now_on, 0};
  return before;
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  const auto middle =
    values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0)
    return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

} // namespace atelier::planning
