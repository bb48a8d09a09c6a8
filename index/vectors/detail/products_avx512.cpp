// SPDX-License-Identifier: Apache-2.0
// This file is compiled for AVX-512 F. It instantiates nothing of the standard
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

float quick_avx512(const float* a, const float* b, size_t n) {
  __m512 sums[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(),
                    _mm512_setzero_ps(), _mm512_setzero_ps()};
  size_t i = 0;
  for (; i + 64 <= n; i += 64)
    for (size_t j = 0; j < 4; ++j)
      sums[j] = _mm512_fmadd_ps(_mm512_loadu_ps(a + i + 16 * j),
                                _mm512_loadu_ps(b + i + 16 * j), sums[j]);
  for (; i < n; i += 16) {
    const auto lanes = n - i >= 16
                       ? static_cast<__mmask16>(0xffff)
                       : static_cast<__mmask16>((1u << (n - i)) - 1u);
    sums[0] = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(lanes, a + i),
                              _mm512_maskz_loadu_ps(lanes, b + i), sums[0]);
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sums[0], sums[1]),
                                            _mm512_add_ps(sums[2], sums[3])));
}

} // namespace

extern const products avx512_products;
const products avx512_products{
  "avx512", [] { return __builtin_cpu_supports("avx512f") != 0; }, exact_avx512,
  quick_avx512};

} // namespace atelier::index::detail
