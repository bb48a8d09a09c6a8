// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/instruction_set.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace atelier::index::detail {

/// Inner products for one instruction set.
struct products {
  core::instruction_set set;
  /// Returns the product from eight sums without fused operations, so that
  /// every instruction set gives the same bits.
  double (*exact)(const float* a, const float* b, size_t n);
  /// Returns the product of two vectors of codes. It is a whole number, so that
  /// every instruction set gives the same.
  /// @pre codes are -127..127, and n is at most 131,072, so that no sum
  ///      overflows
  int32_t (*of_codes)(const int8_t* a, const int8_t* b, size_t n);
};

/// Returns the compiled products, the slowest first. Not every processor runs
/// all of them.
std::span<const products* const> compiled_products();

/// Returns the fastest products that the set in use includes.
/// Threads: any.
const products& chosen_products();

} // namespace atelier::index::detail
