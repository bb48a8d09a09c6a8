// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace atelier::planning {

/// Returns whether two variants run the same model in the same precision. A
/// device that holds one of them can run the other one without a load.
/// @pre the profile knows both
bool share_weights(const profile& known, core::variant_id a,
                   core::variant_id b);

/// Returns, by variant, the first variant of the profile that runs the same
/// model in the same precision. Rows of variants for which it is the same can
/// share a step: they differ in their number of steps and in other settings,
/// which belong to each row.
std::vector<core::variant_id> weights_of(const profile& known);

/// Returns all variants that share weights with this one, itself included, in
/// the order of the profile.
/// @pre the profile knows the variant
std::vector<core::variant_id> levels_of(const profile& known,
                                        core::variant_id variant);

/// A worker for a waiting row: an idle worker, or one whose rows can all share
/// a step with the row and that has room for more.
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

/// Returns whether a row may join rows that share its steps although it is the
/// turn of `next`, whose rows do not, at that worker: `next` meets its deadline
/// if it begins after this row's end. A row without a deadline is not passed.
bool may_join_before(const waiting& row, const waiting& next,
                     core::time_point now);

} // namespace atelier::planning
