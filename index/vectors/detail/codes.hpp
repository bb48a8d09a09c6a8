// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace atelier::index::detail {

/// How the codes of a vector are read: its numbers are about the codes times
/// `scale`.
struct code_scale {
  float scale = 0;
  /// A bound of the length of the difference between the vector and its codes.
  float error = 0;
};

/// Writes the numbers of a vector in units of `scale`, rounded, -127..127.
/// @pre `to` has the length of `unit`
code_scale encode(std::span<const float> unit, int8_t* to);

/// Returns an upper bound of the product of two unit vectors, as
/// `products::exact` returns it.
/// @param of_codes the product of their codes
double limit_of(int32_t of_codes, const code_scale& a, const code_scale& b);

} // namespace atelier::index::detail
