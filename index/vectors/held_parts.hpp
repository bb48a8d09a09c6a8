// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/reuse/needed_work.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace atelier::index {

/// What an entry holds, as far as searches ask for it. Small enough to be read
/// and replaced at once (std::atomic).
struct held_parts {
  /// The steps after which its last state was left; 0: it has no state.
  uint32_t last_steps = 0;
  /// How many times reuse was chained to make it; larger numbers count as the
  /// largest.
  uint16_t depth = 0;
  bool image = false;

  /// Returns a number of chained reuses as `depth` counts it.
  static uint16_t counted_depth(uint32_t depth) {
    constexpr uint32_t most = std::numeric_limits<uint16_t>::max();
    return static_cast<uint16_t>(std::min(depth, most));
  }

  friend bool operator==(const held_parts&, const held_parts&) = default;
};

/// Returns whether every entry is of use.
inline bool takes_all(const planning::needed_work& needs) {
  return needs == planning::needed_work{};
}

/// Returns whether an entry with these parts is of use.
inline bool serves(const held_parts& has, const planning::needed_work& needs) {
  using part = planning::needed_work::part;
  if (has.depth > needs.most_depth)
    return false;
  switch (needs.holds) {
    case part::state:
      return has.last_steps > 0 && has.last_steps >= needs.least_steps;
    case part::image:
      return has.image;
    case part::any:
      break;
  }
  return true;
}

} // namespace atelier::index
