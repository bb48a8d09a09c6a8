// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for kernels_*.cpp: see vectors.hpp. Functions of each number of a
// vector.

#include <atelier/gpu/kernels/detail/vectors.hpp>

namespace atelier::gpu::host::ATELIER_KERNEL_TARGET {

/// Returns the sum of all lanes: of the lower and the upper half, and so on.
/// Highway's own sum differs between its versions.
template <class Tag, class Vector>
HWY_INLINE float sum_of(Tag tag, Vector x) {
  if constexpr (hw::MaxLanes(tag) > 4) {
    constexpr hw::Half<Tag> half;
    return sum_of(half,
                  hw::Add(hw::LowerHalf(half, x), hw::UpperHalf(half, x)));
  } else {
    const auto pairs = hw::Add(x, hw::Shuffle1032(x));
    return hw::GetLane(hw::Add(pairs, hw::Shuffle2301(pairs)));
  }
}

/// Returns y * 2^whole, for whole numbers; infinity on overflow, 0 on
/// underflow.
inline floats scale_by_power(floats y, floats whole) {
#if HWY_CAP_GE512
  return floats{_mm512_scalef_ps(y.raw, whole.raw)};
#else
  // Half of the power at a time, so that each half is a normal number.
  const auto within =
    hw::Min(hw::Max(whole, broadcast(-252.0F)), broadcast(254.0F));
  const auto power = hw::ConvertTo(int_tag, within);
  const auto first = hw::ShiftRight<1>(power);
  const auto second = hw::Sub(power, first);
  const auto two_to = [](auto n) {
    return hw::BitCast(float_tag,
                       hw::ShiftLeft<23>(hw::Add(n, hw::Set(int_tag, 127))));
  };
  return hw::Mul(hw::Mul(y, two_to(first)), two_to(second));
#endif
}

/// Returns 2^x; infinity on overflow, 0 on underflow, NaN for NaN.
/// Error: at most 2 units in the last place (Taylor polynomial of degree 6 on
/// -0.5..0.5, with constants rounded so that it is exact at 0).
inline floats exp2_of(floats x) {
  // Infinite numbers would have no fraction. NaN is less and more than nothing.
  constexpr float beyond = 1000;
  x = hw::IfThenElse(hw::Lt(x, broadcast(-beyond)), broadcast(-beyond), x);
  x = hw::IfThenElse(hw::Gt(x, broadcast(beyond)), broadcast(beyond), x);
  const auto whole = hw::Round(x);
  const auto part = hw::Sub(x, whole);
  auto y = broadcast(1.5403530e-4F);
  y = hw::MulAdd(y, part, broadcast(1.3333558e-3F));
  y = hw::MulAdd(y, part, broadcast(9.6181291e-3F));
  y = hw::MulAdd(y, part, broadcast(5.5504109e-2F));
  y = hw::MulAdd(y, part, broadcast(2.4022651e-1F));
  y = hw::MulAdd(y, part, broadcast(6.9314718e-1F));
  y = hw::MulAdd(y, part, broadcast(1.0F));
  return scale_by_power(y, whole);
}

/// Returns e^x; infinity on overflow and 0 on underflow.
inline floats exp_of(floats x) {
  return exp2_of(hw::Mul(x, broadcast(1.44269504F)));
}

/// Returns x / (1 + e^-x).
inline floats silu_of(floats x) {
  return hw::Div(x, hw::Add(broadcast(1.0F), exp_of(hw::Sub(zeros(), x))));
}

/// Returns x times the normal cumulative distribution function at x, by its
/// tanh approximation.
/// Error: at most 1e-6 times |x|.
/// Source: Hendrycks and Gimpel, Gaussian Error Linear Units, section 2.
inline floats gelu_tanh_of(floats x) {
  // 0.5 * (1 + tanh(z)) is 1 / (1 + e^-2z).
  const auto cubed =
    hw::MulAdd(hw::Mul(hw::Mul(x, x), broadcast(0.044715F)), x, x);
  const auto power = hw::Mul(cubed, broadcast(-2.3022082F));
  return hw::Div(x, hw::Add(broadcast(1.0F), exp2_of(power)));
}

/// Returns x times the normal cumulative distribution function at x.
/// Error: at most 4e-7 times |x|.
/// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
inline floats gelu_of(floats x) {
  const auto one = broadcast(1.0F);
  const auto z = hw::Mul(hw::Abs(x), broadcast(0.70710678F));
  const auto t = hw::Div(one, hw::MulAdd(z, broadcast(0.3275911F), one));
  auto p = broadcast(1.061405429F);
  p = hw::MulAdd(p, t, broadcast(-1.453152027F));
  p = hw::MulAdd(p, t, broadcast(1.421413741F));
  p = hw::MulAdd(p, t, broadcast(-0.284496736F));
  p = hw::MulAdd(p, t, broadcast(0.254829592F));
  const auto tail =
    hw::Mul(hw::Mul(p, t), exp_of(hw::Sub(zeros(), hw::Mul(z, z))));
  // Half of the tail's mass, or 1 minus that for x above 0.
  const auto below = hw::Mul(broadcast(0.5F), tail);
  return hw::Mul(
    x, hw::IfThenElse(hw::Lt(x, zeros()), below, hw::Sub(one, below)));
}

} // namespace atelier::gpu::host::ATELIER_KERNEL_TARGET
