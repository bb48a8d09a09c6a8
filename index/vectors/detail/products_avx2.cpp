// SPDX-License-Identifier: Apache-2.0
// This file is compiled for AVX2. It instantiates nothing of the standard
// library, because the linker could use that code on processors without it.
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

int32_t of_codes_avx2(const int8_t* a, const int8_t* b, size_t n) {
  auto sums = _mm256_setzero_si256();
  const auto ones = _mm256_set1_epi16(1);
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const auto x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i));
    const auto y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i));
    // The pairs of products that an instruction adds in 16 bits are at most
    // 2 * 127 * 127.
    sums = _mm256_add_epi32(
      sums, _mm256_madd_epi16(
              _mm256_maddubs_epi16(_mm256_abs_epi8(x), _mm256_sign_epi8(y, x)),
              ones));
  }
  int32_t parts[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), sums);
  int32_t out = 0;
  for (const auto x : parts)
    out += x;
  for (; i < n; ++i)
    out += a[i] * b[i];
  return out;
}

} // namespace

extern const products avx2_products;
const products avx2_products{"avx2",
                             [] { return __builtin_cpu_supports("avx2") != 0; },
                             exact_avx2, of_codes_avx2};

} // namespace atelier::index::detail
