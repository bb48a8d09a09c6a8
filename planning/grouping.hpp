// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace atelier::planning {

/// A worker for a waiting row: an idle worker, or one whose rows all have the
/// row's variant and that has room for more.
struct seat_offer {
  uint32_t rows = 0;
  /// Whether its last row joined so recently that the two would end together.
  bool fresh = false;
};

/// Returns the worker for a row; none without an offer. Rows that arrive
/// together stay together. As long as more than half of the workers are idle,
/// the next row goes to the idle worker where it ends first; otherwise it joins
/// the fullest batch, where it costs least.
/// @param idle, workers counts of all workers, with or without an offered seat
std::optional<size_t> choose_seat(std::span<const seat_offer> offers,
                                  size_t idle, size_t workers);

/// Returns whether a row may join the rows of its variant although it is the
/// turn of `next` at that worker: `next` has the same variant, or meets its
/// deadline if it begins after this row's end. A row without a deadline is not
/// passed.
bool may_join_before(const waiting& row, const waiting& next,
                     core::time_point now);

} // namespace atelier::planning
