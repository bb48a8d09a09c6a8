// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/residency.hpp>

#include <algorithm>
#include <numeric>

namespace atelier::planning {

std::optional<std::vector<size_t>> leaving_for(
  std::span<const resident_model> there, uint64_t more, uint64_t most) {
  std::vector<size_t> leaving;
  if (most == 0)
    return leaving;
  uint64_t taken =
    std::transform_reduce(there.begin(), there.end(), more, std::plus<>{},
                          [](const resident_model& x) { return x.bytes; });
  std::vector<size_t> oldest(there.size());
  std::iota(oldest.begin(), oldest.end(), size_t{0});
  std::stable_sort(oldest.begin(), oldest.end(), [&](size_t a, size_t b) {
    return there[a].last_used < there[b].last_used;
  });
  for (const size_t i : oldest) {
    if (taken <= most)
      break;
    if (there[i].stays)
      continue;
    leaving.push_back(i);
    taken -= there[i].bytes;
  }
  if (taken > most)
    return std::nullopt;
  return leaving;
}

} // namespace atelier::planning
