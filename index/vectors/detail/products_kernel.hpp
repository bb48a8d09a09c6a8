// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for products_*.cpp, which are compiled for one instruction set each and
// define ATELIER_KERNEL_TARGET as its name. Everything here is in a namespace
// of that name: two sources with different instructions must not share an
// inline function, of which the linker keeps one.

#include <cstddef>
#include <cstdint>

#define HWY_COMPILE_ONLY_STATIC
#define HWY_DISABLE_F16C
#define HWY_DISABLE_PCLMUL_AES
#include <hwy/highway.h>

namespace atelier::index::detail::ATELIER_KERNEL_TARGET {

namespace hw = hwy::HWY_NAMESPACE;

/// It describes the eight sums of `exact`, which are half a vector of AVX-512.
constexpr hw::CappedTag<float, 8> float_tag;
constexpr hw::ScalableTag<int8_t> code_tag;
constexpr hw::Repartition<int16_t, decltype(code_tag)> pair_tag;
constexpr hw::Repartition<int32_t, decltype(code_tag)> sum_tag;
using codes = hw::Vec<decltype(code_tag)>;
using pairs = hw::Vec<decltype(pair_tag)>;
using sums = hw::Vec<decltype(sum_tag)>;

inline double exact(const float* a, const float* b, size_t n) {
  static_assert(hw::MaxLanes(float_tag) == 8);
  auto in_register = hw::Zero(float_tag);
  const auto whole = n - n % 8;
  for (size_t i = 0; i < whole; i += 8)
    in_register = hw::Add(in_register, hw::Mul(hw::LoadU(float_tag, a + i),
                                               hw::LoadU(float_tag, b + i)));
  float parts[8];
  hw::StoreU(in_register, float_tag, parts);
  for (size_t i = whole; i < n; ++i)
    parts[i - whole] += a[i] * b[i];
  double out = 0;
  for (const double x : parts)
    out += x;
  return out;
}

/// Returns the sums of two neighbouring products, which are at most 2 * 127 *
/// 127. Highway lacks the instructions in version 1.0.3: one multiplies numbers
/// without a sign by numbers with one.
inline pairs add_pairs(codes a, codes b) {
#if HWY_CAP_GE512
  const auto other = _mm512_mask_sub_epi8(b.raw, _mm512_movepi8_mask(a.raw),
                                          _mm512_setzero_si512(), b.raw);
  return pairs{_mm512_maddubs_epi16(hw::Abs(a).raw, other)};
#else
  const auto other = _mm256_sign_epi8(b.raw, a.raw);
  return pairs{_mm256_maddubs_epi16(hw::Abs(a).raw, other)};
#endif
}

inline sums add_products(sums to, codes a, codes b) {
  auto unused = hw::Zero(sum_tag);
  return hw::ReorderWidenMulAccumulate(
    sum_tag, add_pairs(a, b), hw::Set(pair_tag, int16_t{1}), to, unused);
}

inline int32_t sum_of(sums x) {
  constexpr hw::Half<decltype(sum_tag)> half;
  return hw::GetLane(hw::SumOfLanes(
    half, hw::Add(hw::LowerHalf(half, x), hw::UpperHalf(half, x))));
}

inline int32_t of_codes(const int8_t* a, const int8_t* b, size_t n) {
  constexpr size_t lanes = hw::MaxLanes(code_tag);
  auto in_register = hw::Zero(sum_tag);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    in_register = add_products(in_register, hw::LoadU(code_tag, a + i),
                               hw::LoadU(code_tag, b + i));
#if HWY_MEM_OPS_MIGHT_FAULT
  auto out = sum_of(in_register);
  for (; i < n; ++i)
    out += a[i] * b[i];
  return out;
#else
  if (i < n) {
    const auto rest = hw::FirstN(code_tag, n - i);
    in_register =
      add_products(in_register, hw::MaskedLoad(rest, code_tag, a + i),
                   hw::MaskedLoad(rest, code_tag, b + i));
  }
  return sum_of(in_register);
#endif
}

} // namespace atelier::index::detail::ATELIER_KERNEL_TARGET
