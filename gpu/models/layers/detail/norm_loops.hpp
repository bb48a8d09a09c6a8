// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for norm_kernels_*.cpp, which are compiled for one instruction set each
// and define ATELIER_KERNEL_TARGET as its name. Everything here is in a
// namespace of that name, and nothing of the standard library is instantiated:
// two sources with different instructions must not share an inline function, of
// which the linker keeps one. The compiler makes vector code of the loops.

#include <atelier/gpu/models/layers/detail/norm_code.hpp>

#include <cstddef>
#include <cstdint>

namespace atelier::gpu::detail::ATELIER_KERNEL_TARGET {

// Channels whose sums stay in registers, and places that are summed in float
// before double is used: few enough that no digits are lost.
constexpr size_t lanes = 64;
constexpr size_t block = 64;

inline float load(float x) {
  return x;
}

inline float load(bfloat16_bits x) {
  return __builtin_bit_cast(float, uint32_t{x.value} << 16);
}

inline void store(float& to, float x) {
  to = x;
}

// Rounds to the nearest, ties to even; a NaN stays a NaN.
inline void store(bfloat16_bits& to, float x) {
  const auto bits = __builtin_bit_cast(uint32_t, x);
  const auto rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const auto quiet = (bits >> 16) | 0x40u;
  to.value = static_cast<uint16_t>(x == x ? rounded : quiet);
}

// Returns e^x for x in -87..88 within 2 units in the last place: x = n log 2 +
// r, with a polynomial for e^r, and n added to the exponent's bits.
// Source: Cephes, expf.c.
inline float exponential(float x) {
  constexpr float to_nearest = 12582912.0f; // 1.5 * 2^23
  const auto shifted = x * 1.44269504088896341f + to_nearest;
  const auto n = shifted - to_nearest;
  const auto r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  auto p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const auto exponent = (__builtin_bit_cast(uint32_t, shifted) + 127u) << 23;
  return p * __builtin_bit_cast(float, exponent);
}

inline float silu(float x) {
  const auto above = -x < -87.0f ? -87.0f : -x;
  const auto limited = above > 88.0f ? 88.0f : above;
  return x / (1.0f + exponential(limited));
}

template <class T>
inline void add_moments_of(const T* x, size_t places, size_t channels,
                           const float* pivot, double* sum, double* squares) {
  for (size_t begin = 0; begin < places; begin += block) {
    const auto end = begin + block < places ? begin + block : places;
    size_t c = 0;
    for (; c + lanes <= channels; c += lanes) {
      float s[lanes] = {};
      float q[lanes] = {};
      float at[lanes];
      for (size_t i = 0; i < lanes; ++i)
        at[i] = pivot[c + i];
      for (auto place = begin; place < end; ++place) {
        const auto* row = x + place * channels + c;
        for (size_t i = 0; i < lanes; ++i) {
          const auto off = load(row[i]) - at[i];
          s[i] += off;
          q[i] += off * off;
        }
      }
      for (size_t i = 0; i < lanes; ++i) {
        sum[c + i] += static_cast<double>(s[i]);
        squares[c + i] += static_cast<double>(q[i]);
      }
    }
    for (; c < channels; ++c)
      for (auto place = begin; place < end; ++place) {
        const auto off = load(x[place * channels + c]) - pivot[c];
        sum[c] += static_cast<double>(off);
        squares[c] += static_cast<double>(off * off);
      }
  }
}

template <bool Silu, class T>
inline void scale_to(const T* x, T* out, size_t places, size_t channels,
                     const float* factor, const float* offset) {
  for (size_t place = 0; place < places; ++place) {
    const auto* from = x + place * channels;
    auto* to = out + place * channels;
    for (size_t c = 0; c < channels; ++c) {
      const auto y = load(from[c]) * factor[c] + offset[c];
      store(to[c], Silu ? silu(y) : y);
    }
  }
}

template <bool Silu, class T>
inline void scale_alike_to(const T* x, T* out, size_t count, float factor,
                           float offset) {
  for (size_t i = 0; i < count; ++i) {
    const auto y = load(x[i]) * factor + offset;
    store(out[i], Silu ? silu(y) : y);
  }
}

template <class T>
void scale_by(const T* x, T* out, size_t places, size_t channels,
              const float* factor, const float* offset, after_scaling then) {
  if (then == after_scaling::silu)
    scale_to<true>(x, out, places, channels, factor, offset);
  else
    scale_to<false>(x, out, places, channels, factor, offset);
}

template <class T>
void scale_alike_by(const T* x, T* out, size_t count, float factor,
                    float offset, after_scaling then) {
  if (then == after_scaling::silu)
    scale_alike_to<true>(x, out, count, factor, offset);
  else
    scale_alike_to<false>(x, out, count, factor, offset);
}

template <class T>
constexpr norm_loops<T> loops{add_moments_of<T>, scale_by<T>,
                              scale_alike_by<T>};

} // namespace atelier::gpu::detail::ATELIER_KERNEL_TARGET
