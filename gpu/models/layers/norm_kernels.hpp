// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace atelier::gpu::detail {

/// A bfloat16 as its 16 bits.
struct bfloat16_bits {
  uint16_t value;
};

/// Loops over plain memory on one thread, compiled for several instruction sets
/// (core/instruction_set.hpp). "Channels" is the fastest axis, "places" the
/// slower one. Elements are float or bfloat16_bits.

/// Adds x[place, c] - pivot[c] to sum[c], and its square to squares[c].
void add_moments(const float* x, size_t places, size_t channels,
                 const float* pivot, double* sum, double* squares);
void add_moments(const bfloat16_bits* x, size_t places, size_t channels,
                 const float* pivot, double* sum, double* squares);

/// The function applied to `x * factor + offset`.
enum class after_scaling : uint8_t { nothing, silu };

/// Computes out[place, c] = then(x[place, c] * factor[c] + offset[c]).
void scale(const float* x, float* out, size_t places, size_t channels,
           const float* factor, const float* offset, after_scaling then);
void scale(const bfloat16_bits* x, bfloat16_bits* out, size_t places,
           size_t channels, const float* factor, const float* offset,
           after_scaling then);

/// Computes out[i] = then(x[i] * factor + offset).
void scale_alike(const float* x, float* out, size_t count, float factor,
                 float offset, after_scaling then);
void scale_alike(const bfloat16_bits* x, bfloat16_bits* out, size_t count,
                 float factor, float offset, after_scaling then);

} // namespace atelier::gpu::detail
