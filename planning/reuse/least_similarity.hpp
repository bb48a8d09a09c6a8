// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile.hpp>

#include <algorithm>

namespace atelier::planning {

/// Returns the lowest similarity from which a profile lets anything be reused;
/// 0 if it has no thresholds.
inline double least_similarity(const reuse_profile& by) {
  const auto& table = by.latents.empty() ? by.images : by.latents;
  double out = table.empty() ? 0 : 1;
  for (const auto& x : table)
    out = std::min(out, x.similarity);
  return out;
}

} // namespace atelier::planning
