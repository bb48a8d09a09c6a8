// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/norm_kernels.hpp>

#include <algorithm>
#include <bit>

// Each loop below is compiled for these processors, and chosen by the features
// of the actual one. Sanitizers are not initialised when the choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)             \
  && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#  define ATELIER_FOR_EACH_PROCESSOR                                           \
    __attribute__((                                                            \
      target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#  define ATELIER_FOR_EACH_PROCESSOR
#endif

namespace atelier::gpu::detail {

namespace {

// Channels whose sums stay in registers, and places that are summed in float
// before double is used: few enough that no digits are lost.
constexpr size_t lanes = 64;
constexpr size_t block = 64;

inline float load(float x) {
  return x;
}

inline float load(bfloat16_bits x) {
  return std::bit_cast<float>(uint32_t{x.value} << 16);
}

inline void store(float& to, float x) {
  to = x;
}

// Rounds to the nearest, ties to even; a NaN stays a NaN.
inline void store(bfloat16_bits& to, float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
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
  const auto exponent = (std::bit_cast<uint32_t>(shifted) + 127u) << 23;
  return p * std::bit_cast<float>(exponent);
}

inline float silu(float x) {
  const auto limited = std::min(std::max(-x, -87.0f), 88.0f);
  return x / (1.0f + exponential(limited));
}

template <class T>
inline __attribute__((always_inline)) void add_moments_of(
  const T* x, size_t places, size_t channels, const float* pivot, double* sum,
  double* squares) {
  for (size_t begin = 0; begin < places; begin += block) {
    const auto end = std::min(begin + block, places);
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
inline __attribute__((always_inline)) void scale_to(const T* x, T* out,
                                                    size_t places,
                                                    size_t channels,
                                                    const float* factor,
                                                    const float* offset) {
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
inline __attribute__((always_inline)) void scale_alike_to(const T* x, T* out,
                                                          size_t count,
                                                          float factor,
                                                          float offset) {
  for (size_t i = 0; i < count; ++i) {
    const auto y = load(x[i]) * factor + offset;
    store(out[i], Silu ? silu(y) : y);
  }
}

} // namespace

ATELIER_FOR_EACH_PROCESSOR
void add_moments(const float* x, size_t places, size_t channels,
                 const float* pivot, double* sum, double* squares) {
  add_moments_of(x, places, channels, pivot, sum, squares);
}

ATELIER_FOR_EACH_PROCESSOR
void add_moments(const bfloat16_bits* x, size_t places, size_t channels,
                 const float* pivot, double* sum, double* squares) {
  add_moments_of(x, places, channels, pivot, sum, squares);
}

ATELIER_FOR_EACH_PROCESSOR
void scale(const float* x, float* out, size_t places, size_t channels,
           const float* factor, const float* offset, after_scaling then) {
  if (then == after_scaling::silu)
    scale_to<true>(x, out, places, channels, factor, offset);
  else
    scale_to<false>(x, out, places, channels, factor, offset);
}

ATELIER_FOR_EACH_PROCESSOR
void scale(const bfloat16_bits* x, bfloat16_bits* out, size_t places,
           size_t channels, const float* factor, const float* offset,
           after_scaling then) {
  if (then == after_scaling::silu)
    scale_to<true>(x, out, places, channels, factor, offset);
  else
    scale_to<false>(x, out, places, channels, factor, offset);
}

ATELIER_FOR_EACH_PROCESSOR
void scale_alike(const float* x, float* out, size_t count, float factor,
                 float offset, after_scaling then) {
  if (then == after_scaling::silu)
    scale_alike_to<true>(x, out, count, factor, offset);
  else
    scale_alike_to<false>(x, out, count, factor, offset);
}

ATELIER_FOR_EACH_PROCESSOR
void scale_alike(const bfloat16_bits* x, bfloat16_bits* out, size_t count,
                 float factor, float offset, after_scaling then) {
  if (then == after_scaling::silu)
    scale_alike_to<true>(x, out, count, factor, offset);
  else
    scale_alike_to<false>(x, out, count, factor, offset);
}

} // namespace atelier::gpu::detail
