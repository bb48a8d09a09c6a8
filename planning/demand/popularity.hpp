// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>

#include <span>
#include <vector>

namespace atelier::planning {

struct demand_window;

/// The number of requests for each variant; an hour halves the weight of
/// earlier counts.
struct popularity {
  /// By variant: the legs that began to wait for it, weighted at the time
  /// `seen`.
  std::vector<double> weights;
  /// The windows up to this time are counted.
  core::time_point seen;

  friend bool operator==(const popularity&, const popularity&) = default;
};

/// Returns `before` with the windows that end after `before.seen`.
popularity counted(popularity before, std::span<const demand_window> windows);

/// Returns the requests per second for a variant that are expected from the
/// past.
double rate_of(const popularity& x, core::variant_id variant);

} // namespace atelier::planning
