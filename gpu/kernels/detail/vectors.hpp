// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for sources that are compiled for AVX-512.

#include <immintrin.h>

#include <cstdint>

#ifdef __clang__
#  define ATELIER_UNROLL _Pragma("unroll")
#else
#  define ATELIER_UNROLL _Pragma("GCC unroll 16")
#endif

namespace atelier::gpu::host::detail {

using bfloat16 = uint16_t;

/// Returns a mask of the first `count` lanes: all if count >= 16, none if count
/// <= 0.
inline __mmask16 lanes(int64_t count) {
  if (count >= 16)
    return 0xffff;
  return count <= 0 ? __mmask16{0} : static_cast<__mmask16>((1u << count) - 1u);
}

inline __m512 widen(__m256i x) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}

inline __m256i narrow(__m512 x) {
  return (__m256i)_mm512_cvtneps_pbh(x);
}

inline __m512 load(const float* from, __mmask16 mask) {
  return _mm512_maskz_loadu_ps(mask, from);
}

inline __m512 load(const bfloat16* from, __mmask16 mask) {
  return widen(_mm256_maskz_loadu_epi16(mask, from));
}

inline __m512 load(const float* from) {
  return _mm512_loadu_ps(from);
}

inline __m512 load(const bfloat16* from) {
  return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

inline void store(float* to, __mmask16 mask, __m512 x) {
  _mm512_mask_storeu_ps(to, mask, x);
}

inline void store(bfloat16* to, __mmask16 mask, __m512 x) {
  _mm256_mask_storeu_epi16(to, mask, narrow(x));
}

inline void store(float* to, __m512 x) {
  _mm512_storeu_ps(to, x);
}

inline void store(bfloat16* to, __m512 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), narrow(x));
}

/// Returns 2^x for x of at most 127; 0 for very negative x.
/// Error: at most 2 units in the last place (Taylor polynomial of degree 6 on
/// -0.5..0.5, with constants rounded so that it is exact at 0).
inline __m512 exp2_of(__m512 x) {
  const auto whole =
    _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const auto part = _mm512_sub_ps(x, whole);
  auto y = _mm512_set1_ps(1.5403530e-4F);
  y = _mm512_fmadd_ps(y, part, _mm512_set1_ps(1.3333558e-3F));
  y = _mm512_fmadd_ps(y, part, _mm512_set1_ps(9.6181291e-3F));
  y = _mm512_fmadd_ps(y, part, _mm512_set1_ps(5.5504109e-2F));
  y = _mm512_fmadd_ps(y, part, _mm512_set1_ps(2.4022651e-1F));
  y = _mm512_fmadd_ps(y, part, _mm512_set1_ps(6.9314718e-1F));
  y = _mm512_fmadd_ps(y, part, _mm512_set1_ps(1.0F));
  return _mm512_scalef_ps(y, whole);
}

/// Returns e^x; infinity on overflow and 0 on underflow.
inline __m512 exp_of(__m512 x) {
  return exp2_of(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504F)));
}

/// Returns x / (1 + e^-x).
inline __m512 silu_of(__m512 x) {
  const auto one = _mm512_set1_ps(1.0F);
  return _mm512_div_ps(
    x, _mm512_add_ps(one, exp_of(_mm512_sub_ps(_mm512_setzero_ps(), x))));
}

/// Returns x times the normal cumulative distribution function at x.
/// Error: at most 2e-7 times |x|.
/// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
inline __m512 gelu_of(__m512 x) {
  const auto one = _mm512_set1_ps(1.0F);
  const auto half = _mm512_set1_ps(0.5F);
  const auto z = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(0.70710678F));
  const auto t =
    _mm512_div_ps(one, _mm512_fmadd_ps(z, _mm512_set1_ps(0.3275911F), one));
  auto p = _mm512_set1_ps(1.061405429F);
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-1.453152027F));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(1.421413741F));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-0.284496736F));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(0.254829592F));
  const auto square = _mm512_mul_ps(z, z);
  const auto tail = _mm512_mul_ps(
    _mm512_mul_ps(p, t), exp_of(_mm512_sub_ps(_mm512_setzero_ps(), square)));
  // Half of the tail's mass, or 1 minus that for x above 0.
  const auto below = _mm512_mul_ps(half, tail);
  const auto negative = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
  return _mm512_mul_ps(
    x, _mm512_mask_blend_ps(negative, _mm512_sub_ps(one, below), below));
}

} // namespace atelier::gpu::host::detail
