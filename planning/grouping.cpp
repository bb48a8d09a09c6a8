// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/grouping.hpp>

namespace atelier::planning {

bool share_weights(const profile& known, core::variant_id a,
                   core::variant_id b) {
  const auto& x = known.variants.at(a.value);
  const auto& y = known.variants.at(b.value);
  return x.model == y.model && x.precision == y.precision;
}

std::vector<core::variant_id> weights_of(const profile& known) {
  std::vector<core::variant_id> out;
  for (uint32_t i = 0; i < known.variants.size(); ++i) {
    core::variant_id first{0};
    while (!share_weights(known, first, core::variant_id{i}))
      ++first.value;
    out.push_back(first);
  }
  return out;
}

std::vector<core::variant_id> levels_of(const profile& known,
                                        core::variant_id variant) {
  std::vector<core::variant_id> out;
  for (uint32_t i = 0; i < known.variants.size(); ++i)
    if (share_weights(known, core::variant_id{i}, variant))
      out.emplace_back(i);
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
