// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::planning {

/// When a waiting row may join a worker's batch.
enum class joining : uint8_t {
  /// Between any two steps.
  step,
  /// When the whole batch before it ended.
  whole_batch,
  /// One row at a time.
  single,
};

} // namespace atelier::planning
