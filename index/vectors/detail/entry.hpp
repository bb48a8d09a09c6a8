// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/vectors/held_parts.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace atelier::index::detail {

/// A vector. All structures that find it share it, so that one flag removes it
/// everywhere.
struct entry {
  uint64_t number = 0;
  /// Rises in the order in which entries are added.
  uint64_t sequence = 0;
  std::vector<float> unit;
  /// What searches ask for; parts may leave.
  mutable std::atomic<held_parts> holds{held_parts{}};
  /// Whether the entry was removed. If so, no search returns it.
  mutable std::atomic<bool> gone{false};
};

using entry_ptr = std::shared_ptr<const entry>;

} // namespace atelier::index::detail
