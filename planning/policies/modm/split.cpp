// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/modm/split.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace atelier::planning::modm {

namespace {

// The relative tolerance between loads and capacities.
constexpr double noise = 1e-9;

double least_large(const loads& of, const speeds& at) {
  return std::ceil(of.miss / at.large * (1 - noise));
}

} // namespace

double mean_left(const std::vector<double>& shares,
                 std::span<const uint32_t> skips, uint32_t steps) {
  double left = 0;
  double sum = 0;
  for (size_t i = 0; i < std::min(shares.size(), skips.size()); ++i) {
    left += shares[i] * (1 - static_cast<double>(skips[i]) / steps);
    sum += shares[i];
  }
  return sum > 0 ? left / sum : 0;
}

loads loads_of(const window& seen) {
  return {(1 - seen.hits) * seen.rate, seen.hits * seen.rate * seen.left};
}

int64_t quality_split_published(uint32_t workers, const loads& of,
                                const speeds& at) {
  auto n = static_cast<int64_t>(least_large(of, at));
  const auto all = static_cast<int64_t>(workers);
  const auto serves = [&] {
    const auto large = static_cast<double>(n);
    const auto small = static_cast<double>(all - n);
    return large * at.large - of.miss + small * at.small >= of.hit;
  };
  while (n <= all) {
    if (!serves())
      return n - 1;
    ++n;
  }
  return n;
}

std::optional<uint32_t> quality_split(uint32_t workers, const loads& of,
                                      const speeds& at) {
  const double all = workers;
  const double wanted = (of.miss + of.hit) * (1 - noise);
  double most = 0;
  if (all * at.large >= wanted)
    most = all;
  else if (at.small > at.large)
    most = std::floor((all * at.small - wanted) / (at.small - at.large));
  else
    return std::nullopt;
  if (most < least_large(of, at) || most < 0)
    return std::nullopt;
  return static_cast<uint32_t>(std::min(most, all));
}

std::optional<double> throughput_split_published(uint32_t workers,
                                                 const loads& of,
                                                 const speeds& at) {
  const double weighted = of.hit * at.large / at.small;
  const double sum = weighted + of.miss;
  if (!(sum > 0))
    return std::nullopt;
  return workers * of.miss / sum;
}

double served_multiple(uint32_t large, uint32_t small, const loads& of,
                       const speeds& at) {
  double most = std::numeric_limits<double>::infinity();
  if (of.miss > 0)
    most = std::min(most, large * at.large / of.miss);
  if (of.hit > 0)
    most = std::min(most, small * at.small / of.hit);
  return most;
}

std::optional<uint32_t> throughput_split(uint32_t workers, const loads& of,
                                         const speeds& at) {
  const auto exact = throughput_split_published(workers, of, at);
  if (!exact)
    return std::nullopt;
  if (workers < 2 || !(of.hit > 0))
    return workers;
  // The minimum of a rising and a falling function is largest next to their
  // intersection.
  const auto inside = [&](double n) {
    return static_cast<uint32_t>(
      std::clamp(n, 1.0, static_cast<double>(workers - 1)));
  };
  const uint32_t low = inside(std::floor(*exact));
  const uint32_t high = inside(std::ceil(*exact));
  return served_multiple(high, workers - high, of, at)
           > served_multiple(low, workers - low, of, at)
         ? high
         : low;
}

} // namespace atelier::planning::modm
