// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <algorithm>
#include <cstddef>

namespace atelier::planning {

/// Returns how many of `fresh` rows a device opens (reads, encodes the text and
/// the picture of) before the next step of its batch: so many that the rows
/// that run wait for no longer than a step, but one at least. The others join
/// at the steps after. All, where nobody waits or nothing is measured.
/// @param open rows that run already
/// @param opening what one took of late
/// @param step what a step took of late
constexpr size_t rows_to_open(size_t fresh, size_t open, core::timespan opening,
                              core::timespan step) {
  if (open == 0 || opening.count() <= 0)
    return fresh;
  const auto fit = static_cast<size_t>(std::max<int64_t>(step / opening, 1));
  return std::min(fresh, fit);
}

} // namespace atelier::planning
