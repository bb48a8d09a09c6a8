// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::index {

/// The number of a namespace's entries, and a count that rises by one for each
/// entry that comes or leaves.
struct space_extent {
  uint64_t entries = 0;
  uint64_t changes = 0;

  friend bool operator==(const space_extent&, const space_extent&) = default;
};

} // namespace atelier::index
