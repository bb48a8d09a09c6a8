// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/route.hpp>

#include <algorithm>
#include <tuple>
#include <vector>

namespace atelier::index::detail {

/// Sorts matches as kept_work::near returns them: the most similar first, of
/// equally similar ones those of least depth, then the newest.
inline void sort_best_first(std::vector<planning::match>& all) {
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return std::tuple{b.similarity, a.depth, b.entry}
         < std::tuple{a.similarity, b.depth, a.entry};
  });
}

} // namespace atelier::index::detail
