// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace atelier::planning {

/// What earlier work must hold to be of use to a request. By default
/// everything is.
struct needed_work {
  enum class part : uint8_t {
    /// A state or an image.
    any,
    state,
    image,
  };

  part holds = part::any;
  /// Its last state was left after at least this many steps, if a state is
  /// needed.
  uint32_t least_steps = 0;
  /// The maximum number of times reuse was chained to make it.
  uint32_t most_depth = std::numeric_limits<uint32_t>::max();

  friend bool operator==(const needed_work&, const needed_work&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, needed_work& x) {
    return f(x.holds, x.least_steps, x.most_depth);
  }
};

} // namespace atelier::planning
