// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <algorithm>

namespace atelier::planning {

/// Returns the maximum wait of a request for the answer to one question:
/// `most`, and no longer than `share` of the time from `now` to its deadline.
inline core::timespan question_budget(core::timespan most, double share,
                                      core::time_point now,
                                      core::time_point deadline) {
  if (deadline == core::never)
    return most;
  const auto left = std::max(deadline - now, core::timespan{0});
  return std::min(most, core::from_seconds(core::to_seconds(left) * share));
}

} // namespace atelier::planning
