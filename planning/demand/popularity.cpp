// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/demand/popularity.hpp>

#include <cmath>
#include <numbers>

namespace atelier::planning {

namespace {

constexpr double half_life_seconds = 3600;

} // namespace

popularity counted(popularity before, std::span<const demand_window> windows) {
  for (const demand_window& w : windows) {
    const auto end = w.begin + w.length;
    if (end <= before.seen)
      continue;
    const double passed = core::to_seconds(end - before.seen);
    const double stays = std::exp2(-passed / half_life_seconds);
    for (double& x : before.weights)
      x *= stays;
    if (before.weights.size() < w.placed.size())
      before.weights.resize(w.placed.size(), 0);
    for (size_t v = 0; v < w.placed.size(); ++v)
      before.weights[v] += static_cast<double>(w.placed[v]);
    before.seen = end;
  }
  return before;
}

double rate_of(const popularity& x, core::variant_id variant) {
  if (variant.value >= x.weights.size())
    return 0;
  return x.weights[variant.value] * std::numbers::ln2 / half_life_seconds;
}

} // namespace atelier::planning
