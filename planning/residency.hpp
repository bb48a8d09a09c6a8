// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace atelier::planning {

/// A model in a device's memory.
struct resident_model {
  uint64_t bytes = 0;
  /// Rises with each use.
  uint64_t last_used = 0;
  /// It must stay: wanted now, or run now.
  bool stays = false;
};

/// Returns which models leave, the least recently used first, so that `more`
/// bytes fit beside those that stay; no more of them than it takes. None where
/// they do not fit even when all leave that may.
/// @param most bytes of all together; 0: no bound
std::optional<std::vector<size_t>> leaving_for(
  std::span<const resident_model> there, uint64_t more, uint64_t most);

} // namespace atelier::planning
