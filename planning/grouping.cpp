// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/grouping.hpp>

namespace atelier::planning {

std::optional<size_t> choose_seat(std::span<const seat_offer> offers,
                                  size_t idle, size_t workers) {
  std::optional<size_t> fresh;
  std::optional<size_t> fullest;
  std::optional<size_t> empty;
  for (size_t i = 0; i < offers.size(); ++i) {
    const seat_offer& x = offers[i];
    const auto fuller = [&](const std::optional<size_t>& than) {
      return !than || x.rows > offers[*than].rows;
    };
    if (x.rows == 0) {
      empty = empty.value_or(i);
      continue;
    }
    if (x.fresh && fuller(fresh))
      fresh = i;
    if (fuller(fullest))
      fullest = i;
  }
  if (fresh)
    return fresh;
  if (empty && (2 * idle > workers || !fullest))
    return empty;
  return fullest;
}

bool may_join_before(const waiting& row, const waiting& next,
                     core::time_point now) {
  return next.lane == row.lane
      || (next.deadline != core::never
          && core::after(now, row.still_needs + next.still_needs)
               <= next.deadline);
}

} // namespace atelier::planning
