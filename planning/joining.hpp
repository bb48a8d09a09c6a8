// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::planning {

/// The time when a waiting row may join a worker's batch.
enum class joining : uint8_t {
  /// Between any two steps.
  step,
  /// When the whole previous batch has ended.
  whole_batch,
  /// One row at a time.
  single,
};

} // namespace atelier::planning
