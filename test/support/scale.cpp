// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace atelier::test {

namespace {

constexpr double default_scale = 0.01;

double scale() {
  const char* text = std::getenv("ATELIER_TEST_SCALE");
  if (text == nullptr || *text == '\0')
    return default_scale;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  // The condition is negated so that NaN is rejected too.
  if (*end != '\0' || !(value > 0 && value <= 1)) {
    std::fprintf(stderr, "ATELIER_TEST_SCALE is '%s', not in (0, 1]\n", text);
    std::exit(2);
  }
  return value;
}

} // namespace

std::size_t scaled(std::size_t n) {
  const double wanted = std::ceil(static_cast<double>(n) * scale());
  return std::min(n, static_cast<std::size_t>(wanted));
}

} // namespace atelier::test
