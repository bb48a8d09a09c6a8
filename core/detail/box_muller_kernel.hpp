// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for box_muller_*.cpp, which are compiled for one instruction set each
// and define ATELIER_KERNEL_TARGET as its name. Everything here is in a
// namespace of that name: two sources with different instructions must not
// share an inline function, of which the linker keeps one.
//
// They are built with -ffp-contract=off: each call of fused() is one of the
// fused multiply-adds of PyTorch's build, which has no others.

#include <atelier/core/detail/box_muller.hpp>

#include <cstddef>
#include <cstdint>

#define HWY_COMPILE_ONLY_STATIC
#define HWY_DISABLE_F16C
#define HWY_DISABLE_PCLMUL_AES
#include <hwy/highway.h>

namespace atelier::core::detail::ATELIER_KERNEL_TARGET {

namespace hw = hwy::HWY_NAMESPACE;

constexpr size_t half_chunk = box_muller_chunk / 2;
constexpr hw::CappedTag<float, half_chunk> float_tag;
constexpr hw::RebindToSigned<decltype(float_tag)> int_tag;
/// Floats in a vector; they divide half a chunk.
constexpr size_t lanes = hw::MaxLanes(float_tag);
using floats = hw::Vec<decltype(float_tag)>;

inline floats of(float x) {
  return hw::Set(float_tag, x);
}

/// Returns a * b + c, rounded once.
inline floats fused(floats a, floats b, floats c) {
#if HWY_NATIVE_FMA
  return hw::MulAdd(a, b, c);
#else
  float x[lanes], y[lanes], z[lanes];
  hw::StoreU(a, float_tag, x);
  hw::StoreU(b, float_tag, y);
  hw::StoreU(c, float_tag, z);
  for (size_t i = 0; i < lanes; ++i)
    x[i] = __builtin_fmaf(x[i], y[i], z[i]);
  return hw::LoadU(float_tag, x);
#endif
}

/// Returns the natural logarithm of x in (0, 1] by Cephes' logf polynomial.
inline floats log_of(floats x) {
  const auto word = [](uint32_t bits) {
    return hw::Set(int_tag, static_cast<int32_t>(bits));
  };
  const auto bits = hw::BitCast(int_tag, x);
  const auto exponent = hw::Sub(hw::ShiftRight<23>(bits), word(127));
  auto e = hw::Add(hw::ConvertTo(float_tag, exponent), of(1.0F));
  auto m = hw::BitCast(
    float_tag, hw::Or(hw::And(bits, word(0x807FFFFF)), word(0x3F000000)));
  const auto low = hw::Lt(m, of(0.707106781186547524F));
  const auto again = hw::IfThenElseZero(low, m);
  m = hw::Sub(m, of(1.0F));
  e = hw::Sub(e, hw::IfThenElseZero(low, of(1.0F)));
  m = hw::Add(m, again);
  const auto z = hw::Mul(m, m);
  auto y = of(7.0376836292E-2F);
  y = fused(y, m, of(-1.1514610310E-1F));
  y = fused(y, m, of(1.1676998740E-1F));
  y = fused(y, m, of(-1.2420140846E-1F));
  y = fused(y, m, of(1.4249322787E-1F));
  y = fused(y, m, of(-1.6668057665E-1F));
  y = fused(y, m, of(2.0000714765E-1F));
  y = fused(y, m, of(-2.4999993993E-1F));
  y = fused(y, m, of(3.3333331174E-1F));
  y = hw::Mul(y, m);
  y = fused(y, z, hw::Mul(e, of(-2.12194440E-4F)));
  y = fused(z, of(-0.5F), y);
  m = hw::Add(m, y);
  return fused(e, of(0.693359375F), m);
}

struct angles {
  floats sine;
  floats cosine;
};

/// Returns the sine and cosine of x >= 0 by Cephes' sinf and cosf polynomials.
inline angles angles_of(floats x) {
  constexpr float four_over_pi = 1.27323954473516F;
  const auto word = [](int32_t bits) { return hw::Set(int_tag, bits); };
  // The bits of 2^23 + n end in those of n: that is faster than a conversion.
  const auto shift = of(8388608.0F);
  auto octant = hw::BitCast(
    int_tag, hw::Add(hw::Trunc(hw::Mul(x, of(four_over_pi))), shift));
  octant = hw::And(hw::Add(octant, word(1)), word(~1));
  const auto y = hw::Sub(hw::BitCast(float_tag, octant), shift);
  const auto sine_sign = hw::ShiftLeft<29>(hw::And(octant, word(4)));
  const auto cosine_sign =
    hw::ShiftLeft<29>(hw::AndNot(hw::Sub(octant, word(2)), word(4)));
  const auto straight =
    hw::RebindMask(float_tag, hw::Eq(hw::And(octant, word(2)), word(0)));
  x = fused(y, of(-0.78515625F), x);
  x = fused(y, of(-2.4187564849853515625E-4F), x);
  x = fused(y, of(-3.77489497744594108E-8F), x);
  const auto z = hw::Mul(x, x);
  auto even = of(2.443315711809948E-5F);
  even = fused(even, z, of(-1.388731625493765E-3F));
  even = fused(even, z, of(4.166664568298827E-2F));
  even = hw::Mul(even, z);
  even = fused(even, z, hw::Mul(z, of(-0.5F)));
  even = hw::Add(even, of(1.0F));
  auto odd = of(-1.9515295891E-4F);
  odd = fused(odd, z, of(8.3321608736E-3F));
  odd = fused(odd, z, of(-1.6666654611E-1F));
  odd = hw::Mul(odd, z);
  odd = fused(odd, x, x);
  const auto with_sign = [](floats value, auto sign) {
    return hw::BitCast(float_tag, hw::Xor(hw::BitCast(int_tag, value), sign));
  };
  return {with_sign(hw::IfThenElse(straight, odd, even), sine_sign),
          with_sign(hw::IfThenElse(straight, even, odd), cosine_sign)};
}

inline void transform(float* data, size_t chunks) {
  constexpr float two_pi = 6.28318530717958647692F;
  for (; chunks > 0; --chunks, data += box_muller_chunk) {
    for (size_t i = 0; i < half_chunk; i += lanes) {
      auto* const radii = data + i;
      auto* const turns = radii + half_chunk;
      const auto radius = hw::Sqrt(hw::Mul(
        of(-2.0F), log_of(hw::Sub(of(1.0F), hw::LoadU(float_tag, radii)))));
      const auto at =
        angles_of(hw::Mul(of(two_pi), hw::LoadU(float_tag, turns)));
      // The zero is PyTorch's mean; adding it turns -0 into +0.
      hw::StoreU(hw::Add(hw::Mul(radius, at.cosine), of(0.0F)), float_tag,
                 radii);
      hw::StoreU(hw::Add(hw::Mul(radius, at.sine), of(0.0F)), float_tag, turns);
    }
  }
}

} // namespace atelier::core::detail::ATELIER_KERNEL_TARGET
