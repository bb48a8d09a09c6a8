// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/step_table.hpp>

#include <span>

namespace atelier::planning {

/// Returns whether a request asks for a size, a number of steps or a strength
/// of its own, so that it may be another amount of work than its variant's
/// usual image.
bool has_own_work(const core::request& wanted);

/// Returns the time of the steps of `wanted` on `x`, as a multiple of those of
/// an image of the variant's own size and steps; 1 where the variant has none.
double relative_work(const variant_table& x, const core::request& wanted);

/// Returns `known` with the steps of each variant, on every kind of device, as
/// long as those of the mean request of the windows: plans reckon in images of
/// a variant's own size and steps, and what is asked for may be smaller or
/// larger.
profile at_requested_work(profile known,
                          std::span<const demand_window> windows);

} // namespace atelier::planning
