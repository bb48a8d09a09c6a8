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
  /// Its rank rises with each use.
  uint64_t last_used = 0;
  /// It must stay: it is wanted or running now.
  bool stays = false;
};

/// Returns the models that leave, the least recently used first, so that `more`
/// bytes fit beside the rest; as few as possible. Returns none if they do not
/// fit even without all removable models.
/// @param most the maximum bytes of all together; 0: no limit
std::optional<std::vector<size_t>> leaving_for(
  std::span<const resident_model> there, uint64_t more, uint64_t most);

} // namespace atelier::planning
