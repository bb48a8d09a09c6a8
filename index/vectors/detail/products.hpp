// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace atelier::index::detail {

/// Inner products for one instruction set.
struct products {
  std::string_view name;
  /// Returns whether this processor has the instructions.
  bool (*runs)();
  /// Returns the product from eight sums without fused operations, so that
  /// every instruction set gives the same bits.
  double (*exact)(const float* a, const float* b, size_t n);
  /// Returns the product with the sums that the processor adds fastest.
  float (*quick)(const float* a, const float* b, size_t n);
};

/// Returns the compiled products, the narrowest first. Not every processor runs
/// all of them.
std::span<const products* const> compiled_products();

/// Returns the widest products that this processor runs.
/// Threads: any.
const products& chosen_products();

} // namespace atelier::index::detail
