// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/vectors/detail/products.hpp>

namespace atelier::index::detail {

namespace {

double in_eight_sums(const float* a, const float* b, size_t n) {
  float sums[8] = {};
  const auto whole = n - n % 8;
  for (size_t i = 0; i < whole; i += 8)
    for (size_t j = 0; j < 8; ++j)
      sums[j] += a[i + j] * b[i + j];
  for (size_t i = whole; i < n; ++i)
    sums[i - whole] += a[i] * b[i];
  double out = 0;
  for (const double x : sums)
    out += x;
  return out;
}

int32_t in_one_sum(const int8_t* a, const int8_t* b, size_t n) {
  int32_t out = 0;
  for (size_t i = 0; i < n; ++i)
    out += a[i] * b[i];
  return out;
}

const products portable_products{core::instruction_set::portable, in_eight_sums,
                                 in_one_sum};

} // namespace

#ifdef ATELIER_INSTRUCTION_SETS
extern const products avx2_products;
extern const products avx512_products;
#endif

std::span<const products* const> compiled_products() {
  static constexpr const products* all[] = {
    &portable_products,
#ifdef ATELIER_INSTRUCTION_SETS
    &avx2_products,
    &avx512_products,
#endif
  };
  return all;
}

const products& chosen_products() {
  return *core::fastest_in_use(compiled_products());
}

} // namespace atelier::index::detail
