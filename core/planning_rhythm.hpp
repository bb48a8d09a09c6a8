// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

#include <cstdint>

namespace atelier::core {

/// How often demand is counted and plans are made by default. A server and a
/// simulation use the same values, so that one shows what the other does.
struct planning_rhythm {
  /// Length of one counting window, and number of windows that are kept.
  timespan window = std::chrono::seconds{1};
  uint32_t windows = 20;
  /// Time between two plans.
  timespan period = std::chrono::seconds{5};
};

} // namespace atelier::core
