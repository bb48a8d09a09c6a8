// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/atelier/programme.hpp>
#include <atelier/planning/policies/atelier/waiting.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::planning::unified {

bool better(const phase_values& a, const phase_values& b) {
  const auto noise = [](double x, double y) {
    return 1e-5 * (1 + std::abs(x) + std::abs(y));
  };
  if (std::abs(a.refused - b.refused) > noise(a.refused, b.refused))
    return a.refused < b.refused;
  if (std::abs(a.shortfall - b.shortfall) > noise(a.shortfall, b.shortfall))
    return a.shortfall < b.shortfall;
  return a.gain > b.gain + noise(a.gain, b.gain);
}

double busy_of(const pool& p, double count) {
  if (std::isinf(p.wait) || count <= 0)
    return p.busy;
  return std::min(p.busy, std::max(0.01, most_busy(count * p.seats, p.wait)));
}

std::vector<std::pair<double, double>> envelope(
  std::vector<std::pair<double, double>> points, size_t most) {
  std::sort(points.begin(), points.end());
  std::vector<std::pair<double, double>> knots;
  for (const auto& p : points) {
    if (!knots.empty() && knots.back().first == p.first)
      knots.pop_back();
    while (knots.size() >= 2) {
      const auto& a = knots[knots.size() - 2];
      const auto& b = knots.back();
      // The knot b is on or below the line from a to p.
      if ((b.second - a.second) * (p.first - a.first)
          > (p.second - a.second) * (b.first - a.first))
        break;
      knots.pop_back();
    }
    knots.push_back(p);
  }
  // If too many knots remain, the one with the least loss is removed first.
  while (knots.size() > std::max<size_t>(most, 2)) {
    size_t least = 1;
    double least_loss = std::numeric_limits<double>::infinity();
    for (size_t i = 1; i + 1 < knots.size(); ++i) {
      const auto& a = knots[i - 1];
      const auto& b = knots[i + 1];
      const double part = (knots[i].first - a.first) / (b.first - a.first);
      const double loss =
        knots[i].second - (a.second + part * (b.second - a.second));
      if (loss < least_loss) {
        least_loss = loss;
        least = i;
      }
    }
    knots.erase(knots.begin() + static_cast<std::ptrdiff_t>(least));
  }
  return knots;
}

std::vector<mix_segment> segments_of(
  std::span<const std::pair<double, double>> knots) {
  std::vector<mix_segment> out;
  if (knots.size() == 1)
    out.push_back({0, knots.front().second});
  for (size_t i = 0; i + 1 < knots.size(); ++i) {
    const auto& a = knots[i];
    const auto& b = knots[i + 1];
    const double slope = (b.second - a.second) / (b.first - a.first);
    out.push_back({slope, a.second - slope * a.first});
  }
  return out;
}

} // namespace atelier::planning::unified
