// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/profile.hpp>

namespace atelier::planning {

/// What decides how long a device works for one image, apart from the number of
/// its steps.
struct row_work {
  /// The size at which it is drawn.
  core::extent px;
  /// How many rows of the variant's own guidance it counts for in a step: a
  /// guided row takes two places of a pass, an unguided row takes one.
  double rows = 1;
  /// The device encodes an image before the first step.
  bool from_image = false;

  friend bool operator==(const row_work&, const row_work&) = default;
};

/// Returns the work of a run on `v`.
row_work work_of(const variant_profile& v, const core::recipe& how);

/// Returns how many rows of `v` with its own guidance a row with `guidance`
/// counts for in a step: 0.5, 1 or 2.
double rows_at(const variant_profile& v, float guidance);

/// Return the predicted time of decoding, and of encoding, one image of `px`:
/// in proportion to its pixels.
core::timespan decode_time(const variant_profile& v, core::extent px);
core::timespan encode_time(const variant_profile& v, core::extent px);

/// Returns the time of an image of the variant's own size that corresponds to a
/// measured one of `px`.
core::timespan at_native_size(const variant_profile& v, core::extent px,
                              core::timespan took);

/// Returns the predicted time of all that a device does for an image beside its
/// steps: text, source and decoding.
core::timespan time_beside_steps(const variant_profile& v, const row_work& of);

} // namespace atelier::planning
