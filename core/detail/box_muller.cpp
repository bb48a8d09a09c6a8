// SPDX-License-Identifier: Apache-2.0
// This file is built with -ffp-contract=off: each fused multiply-add below is
// one of PyTorch's build, which has no others. -O3 turns the loops of eight
// into vector code.
#include <atelier/core/detail/box_muller.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace atelier::core::detail {

namespace {

constexpr size_t half = box_muller_chunk / 2;

[[gnu::always_inline]] inline float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

/// Returns the natural logarithm of x in (0, 1] by Cephes' logf polynomial.
[[gnu::always_inline]] inline float log_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  float e = static_cast<float>(static_cast<int32_t>(bits >> 23) - 127) + 1.0f;
  float m = std::bit_cast<float>((bits & 0x807FFFFFu) | 0x3F000000u);
  const bool low = m < 0.707106781186547524f;
  const float again = low ? m : 0.0f;
  m = m - 1.0f;
  e = e - (low ? 1.0f : 0.0f);
  m = m + again;
  const float z = m * m;
  float y = 7.0376836292E-2f;
  y = fma(y, m, -1.1514610310E-1f);
  y = fma(y, m, 1.1676998740E-1f);
  y = fma(y, m, -1.2420140846E-1f);
  y = fma(y, m, 1.4249322787E-1f);
  y = fma(y, m, -1.6668057665E-1f);
  y = fma(y, m, 2.0000714765E-1f);
  y = fma(y, m, -2.4999993993E-1f);
  y = fma(y, m, 3.3333331174E-1f);
  y = y * m;
  y = fma(y, z, e * -2.12194440E-4f);
  y = fma(-z, 0.5f, y);
  m = m + y;
  return fma(e, 0.693359375f, m);
}

struct angle {
  float sine;
  float cosine;
};

/// Returns the sine and cosine of x >= 0 by Cephes' sinf and cosf polynomials.
[[gnu::always_inline]] inline angle angle_of(float x) {
  constexpr float four_over_pi = 1.27323954473516f;
  auto octant = static_cast<int32_t>(x * four_over_pi);
  octant = (octant + 1) & ~1;
  const float y = static_cast<float>(octant);
  const auto j = static_cast<uint32_t>(octant);
  const uint32_t sine_sign = (j & 4u) << 29;
  const uint32_t cosine_sign = (~(j - 2u) & 4u) << 29;
  const bool straight = (j & 2u) == 0;
  x = fma(y, -0.78515625f, x);
  x = fma(y, -2.4187564849853515625E-4f, x);
  x = fma(y, -3.77489497744594108E-8f, x);
  const float z = x * x;
  float even = 2.443315711809948E-5f;
  even = fma(even, z, -1.388731625493765E-3f);
  even = fma(even, z, 4.166664568298827E-2f);
  even = even * z;
  even = fma(even, z, -(z * 0.5f));
  even = even + 1.0f;
  float odd = -1.9515295891E-4f;
  odd = fma(odd, z, 8.3321608736E-3f);
  odd = fma(odd, z, -1.6666654611E-1f);
  odd = odd * z;
  odd = fma(odd, x, x);
  const auto sine = std::bit_cast<uint32_t>(straight ? odd : even);
  const auto cosine = std::bit_cast<uint32_t>(straight ? even : odd);
  return {std::bit_cast<float>(sine ^ sine_sign),
          std::bit_cast<float>(cosine ^ cosine_sign)};
}

[[gnu::always_inline]] inline void transform(float* data, size_t chunks) {
  constexpr float two_pi = 2 * std::numbers::pi_v<float>;
  for (; chunks > 0; --chunks, data += box_muller_chunk) {
    for (size_t i = 0; i < half; ++i) {
      const float radius = std::sqrt(-2.0f * log_of(1.0f - data[i]));
      const angle at = angle_of(two_pi * data[i + half]);
      // The zero is PyTorch's mean; adding it turns -0 into +0.
      data[i] = radius * at.cosine + 0.0f;
      data[i + half] = radius * at.sine + 0.0f;
    }
  }
}

void transform_portable(float* data, size_t chunks) {
  transform(data, chunks);
}

#if defined(__x86_64__)

[[gnu::target("avx2,fma")]] void transform_avx2(float* data, size_t chunks) {
  transform(data, chunks);
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#else

void transform_avx2(float* data, size_t chunks) {
  transform(data, chunks);
}

bool has_avx2() {
  return false;
}

#endif

} // namespace

void box_muller(std::span<float> data) {
  static const auto best = has_avx2() ? transform_avx2 : transform_portable;
  best(data.data(), data.size() / box_muller_chunk);
}

void box_muller_portable(std::span<float> data) {
  transform_portable(data.data(), data.size() / box_muller_chunk);
}

} // namespace atelier::core::detail
