// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>

#include <span>
#include <vector>

namespace atelier::planning {

struct demand_window;

/// How often variants were asked for, the more the later: an hour halves what
/// was counted before.
struct popularity {
  /// By variant: legs that began to wait for it, as weighed at `seen`.
  std::vector<double> weights;
  /// Windows up to here are counted.
  core::time_point seen;

  friend bool operator==(const popularity&, const popularity&) = default;
};

/// Counts windows that end after `before.seen`.
popularity counted(popularity before, std::span<const demand_window> windows);

/// Returns the requests a second that the past lets expect for a variant.
double rate_of(const popularity& x, core::variant_id variant);

} // namespace atelier::planning
