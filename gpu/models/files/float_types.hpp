// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/tensor_source.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace atelier::gpu::detail {

/// Return the number with the half-precision or bfloat16 bits `bits`.
float from_half_bits(uint16_t bits);
float from_bfloat16_bits(uint16_t bits);

/// Return the bits of the number nearest to `x`, ties to even; infinity outside
/// the type's range. A NaN stays a NaN.
uint16_t to_half_bits(float x);
uint16_t to_bfloat16_bits(float x);

/// Converts numbers of one floating-point type to another, as PyTorch does.
/// @pre both types are floating-point; `to` has room for all elements of `from`
void convert(tensor_type from_type, std::span<const std::byte> from,
             tensor_type to_type, std::span<std::byte> to);

/// Returns how many numbers of a floating-point type are infinite or NaN.
uint64_t count_non_finite(tensor_type type, std::span<const std::byte> bytes);

} // namespace atelier::gpu::detail
