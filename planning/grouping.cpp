// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/grouping.hpp>

#include <algorithm>
#include <iterator>

namespace atelier::planning {

std::vector<core::variant_id> weights_of(const profile& known) {
  const auto& all = known.variants;
  std::vector<core::variant_id> out;
  for (const auto& v : all) {
    const auto first = std::find_if(all.begin(), all.end(), [&](const auto& x) {
      return x.model == v.model && x.precision == v.precision;
    });
    out.emplace_back(static_cast<uint32_t>(std::distance(all.begin(), first)));
  }
  return out;
}

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
  return next.deadline != core::never
      && core::after(now, row.still_needs + next.still_needs) <= next.deadline;
}

} // namespace atelier::planning
