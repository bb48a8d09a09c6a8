// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>

#include <algorithm>
#include <limits>

namespace atelier::planning::argus {

ladder without_dominated(std::vector<level> all) {
  std::stable_sort(all.begin(), all.end(), [](const level& a, const level& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds
                                  : a.quality > b.quality;
  });
  // From fast to slow, a level is kept only if it is better than all faster
  // ones.
  ladder kept;
  for (level& x : all)
    if (kept.empty() || x.quality > kept.back().quality)
      kept.push_back(std::move(x));
  std::reverse(kept.begin(), kept.end());
  return kept;
}

double request_seconds(const variant_profile& v, core::extent px,
                       uint32_t skip) {
  const auto one = step_time(v, 1, image_of(v, px));
  const uint32_t runs = v.steps > skip ? v.steps - skip : 0;
  return core::to_seconds(v.text + v.decode + one * runs);
}

double quickest_seconds(const profile& known, core::variant_id variant,
                        std::span<const device_group> groups) {
  if (known.kinds.empty() || groups.empty())
    return request_seconds(known.variants[variant.value], {});
  double least = std::numeric_limits<double>::infinity();
  for (const device_group& g : groups)
    least =
      std::min(least, request_seconds(on_kind(known, variant, g.kind), {}));
  return least;
}

} // namespace atelier::planning::argus
