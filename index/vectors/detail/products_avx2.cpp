// SPDX-License-Identifier: Apache-2.0
// This file is compiled for AVX2 and FMA. It instantiates nothing of the
// standard library, because the linker could use that code on processors
// without them.
#include <atelier/index/vectors/detail/products.hpp>

#include <immintrin.h>

namespace atelier::index::detail {

namespace {

double add_up(__m256 in_register, const float* a, const float* b, size_t rest) {
  float sums[8];
  _mm256_storeu_ps(sums, in_register);
  for (size_t i = 0; i < rest; ++i)
    sums[i] += a[i] * b[i];
  double out = 0;
  for (const double x : sums)
    out += x;
  return out;
}

double exact_avx2(const float* a, const float* b, size_t n) {
  auto sums = _mm256_setzero_ps();
  const auto whole = n - n % 8;
  for (size_t i = 0; i < whole; i += 8)
    sums = _mm256_add_ps(
      sums, _mm256_mul_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i)));
  return add_up(sums, a + whole, b + whole, n - whole);
}

float quick_avx2(const float* a, const float* b, size_t n) {
  __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(),
                    _mm256_setzero_ps(), _mm256_setzero_ps()};
  size_t i = 0;
  for (; i + 32 <= n; i += 32)
    for (size_t j = 0; j < 4; ++j)
      sums[j] = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 8 * j),
                                _mm256_loadu_ps(b + i + 8 * j), sums[j]);
  for (; i + 8 <= n; i += 8)
    sums[0] =
      _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), sums[0]);
  const auto all = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]),
                                 _mm256_add_ps(sums[2], sums[3]));
  return static_cast<float>(add_up(all, a + i, b + i, n - i));
}

} // namespace

extern const products avx2_products;
const products avx2_products{"avx2",
                             [] {
                               return __builtin_cpu_supports("avx2") != 0
                                   && __builtin_cpu_supports("fma") != 0;
                             },
                             exact_avx2, quick_avx2};

} // namespace atelier::index::detail
