// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/step_table.hpp>

#include <span>

namespace atelier::planning {

/// Returns whether a request has a size, a number of steps, a guidance or a
/// strength of its own, so that its work may differ from its variant's usual
/// image.
bool has_own_work(const core::request& wanted);

/// Returns the time of the steps of `wanted` on `x`, as a multiple of the time
/// of an image of the variant's own size and steps; 1 if the variant has no
/// such time.
double relative_work(const variant_table& x, const core::request& wanted);

/// Returns the pixels of the image that `v` draws for `wanted`, as a multiple
/// of those of an image of its own size; 1 if the variant has no size.
double relative_pixels(const variant_profile& v, const core::request& wanted);

/// Returns `known` with steps, decoding and encoding of each variant, on every
/// kind of device, that take as long as those of the mean request of the
/// windows. Plans count in images of a variant's own size and steps, and
/// requested images may be smaller or larger.
profile at_requested_work(profile known,
                          std::span<const demand_window> windows);

} // namespace atelier::planning
