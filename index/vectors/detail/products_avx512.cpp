// SPDX-License-Identifier: Apache-2.0
// This file is compiled for AVX-512 BW. It instantiates nothing of the standard
// library, because the linker could use that code on processors without it.
#include <atelier/index/vectors/detail/products.hpp>

#include <immintrin.h>

namespace atelier::index::detail {

namespace {

double exact_avx512(const float* a, const float* b, size_t n) {
  // Eight sums fill half a register.
  auto in_register = _mm256_setzero_ps();
  const auto whole = n - n % 8;
  for (size_t i = 0; i < whole; i += 8)
    in_register =
      _mm256_add_ps(in_register, _mm256_mul_ps(_mm256_loadu_ps(a + i),
                                               _mm256_loadu_ps(b + i)));
  float sums[8];
  _mm256_storeu_ps(sums, in_register);
  for (size_t i = whole; i < n; ++i)
    sums[i - whole] += a[i] * b[i];
  double out = 0;
  for (const double x : sums)
    out += x;
  return out;
}

// The pairs of products that an instruction adds in 16 bits are at most
// 2 * 127 * 127.
__m512i of_64(__m512i a, __m512i b) {
  const auto signed_b =
    _mm512_mask_sub_epi8(b, _mm512_movepi8_mask(a), _mm512_setzero_si512(), b);
  return _mm512_madd_epi16(_mm512_maddubs_epi16(_mm512_abs_epi8(a), signed_b),
                           _mm512_set1_epi16(1));
}

int32_t of_codes_avx512(const int8_t* a, const int8_t* b, size_t n) {
  auto sums = _mm512_setzero_si512();
  size_t i = 0;
  for (; i + 64 <= n; i += 64)
    sums = _mm512_add_epi32(
      sums, of_64(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i)));
  if (i < n) {
    const auto rest = (__mmask64{1} << (n - i)) - 1;
    sums = _mm512_add_epi32(sums, of_64(_mm512_maskz_loadu_epi8(rest, a + i),
                                        _mm512_maskz_loadu_epi8(rest, b + i)));
  }
  return _mm512_reduce_add_epi32(sums);
}

} // namespace

extern const products avx512_products;
const products avx512_products{
  "avx512", [] { return __builtin_cpu_supports("avx512bw") != 0; },
  exact_avx512, of_codes_avx512};

} // namespace atelier::index::detail
