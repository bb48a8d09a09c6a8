// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/diffserve/quality.hpp>

#include <algorithm>

namespace atelier::planning::diffserve {

double quality_at(const quality_table& points, double light_share) {
  if (points.empty())
    return 0;
  const auto above =
    std::find_if(points.begin(), points.end(),
                 [&](const auto& p) { return p.first >= light_share; });
  if (above == points.begin())
    return above->second;
  if (above == points.end())
    return points.back().second;
  const auto& a = *(above - 1);
  return a.second
       + (above->second - a.second) * (light_share - a.first)
           / (above->first - a.first);
}

double best_light_share(const quality_table& points) {
  double share = 0;
  double least = 0;
  bool any = false;
  for (const auto& [at, value] : points)
    if (!any || value <= least) {
      any = true;
      share = at;
      least = value;
    }
  return share;
}

double random_quality_at(const quality_table& points, double light_share) {
  if (points.empty())
    return 0;
  return quality_at({points.front(), points.back()}, light_share);
}

} // namespace atelier::planning::diffserve
