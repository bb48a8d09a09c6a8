// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::index {

/// A found vector.
struct near_vector {
  uint64_t number = 0;
  /// 0..1, as `similarity` returns it.
  double similarity = 0;

  friend bool operator==(const near_vector&, const near_vector&) = default;
};

} // namespace atelier::index
