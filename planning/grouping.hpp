// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace atelier::planning {

/// A worker where a waiting row may go: an idle one, or one whose rows are all
/// of the row's variant and that has room for more.
struct seat_offer {
  uint32_t rows = 0;
  /// Its last row joined so lately that the two would end together.
  bool fresh = false;
};

/// Returns where a row goes, none where there is no offer. Rows that come
/// together stay together. As long as more than half of the workers are idle
/// the next one goes to one of them, where it is soonest done; with fewer it
/// joins the fullest batch, where it costs least.
/// @param idle, workers of all, whether or not they offer a seat
std::optional<size_t> choose_seat(std::span<const seat_offer> offers,
                                  size_t idle, size_t workers);

/// Whether a row may join those of its variant although `next` is the one whose
/// turn it is at that worker: of the same variant, or in time all the same when
/// it begins after this row's end. What has no deadline is not passed.
bool may_join_before(const waiting& row, const waiting& next,
                     core::time_point now);

} // namespace atelier::planning
