// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <algorithm>
#include <cstddef>

namespace atelier::planning {

/// Returns how many of the rows `fresh` a device opens (reads, encodes text and
/// image) before the next step of its batch: as many as possible while running
/// rows wait no longer than one step, but at least one. The others join at
/// later steps. Returns all if no row runs or nothing is measured.
/// @param open rows that already run
/// @param opening the recent time for opening one row
/// @param step the recent time of a step
constexpr size_t rows_to_open(size_t fresh, size_t open, core::timespan opening,
                              core::timespan step) {
  if (open == 0 || opening.count() <= 0)
    return fresh;
  const auto fit = static_cast<size_t>(std::max<int64_t>(step / opening, 1));
  return std::min(fresh, fit);
}

} // namespace atelier::planning
