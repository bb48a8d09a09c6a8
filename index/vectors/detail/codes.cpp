// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/vectors/detail/codes.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace atelier::index::detail {

code_scale encode(std::span<const float> unit, int8_t* to) {
  float most = 0;
  for (const auto x : unit)
    most = std::max(most, std::abs(x));
  code_scale out{most / std::numeric_limits<int8_t>::max(), 0};
  double squares = 0;
  for (size_t i = 0; i < unit.size(); ++i) {
    to[i] = out.scale > 0 ? static_cast<int8_t>(
              std::clamp(std::lrint(unit[i] / out.scale), -127L, 127L))
                          : 0;
    const double apart = unit[i] - static_cast<double>(out.scale) * to[i];
    squares += apart * apart;
  }
  out.error = std::nextafter(static_cast<float>(std::sqrt(squares)),
                             std::numeric_limits<float>::infinity());
  return out;
}

// With a = a' + e and b = b' + f, ab - a'b' = af + be - ef.
double limit_of(int32_t of_codes, const code_scale& a, const code_scale& b) {
  // More than what the sums of `products::exact` round, and what a vector is
  // longer than 1.
  constexpr double rounding = 1e-4;
  const double e = a.error;
  const double f = b.error;
  return static_cast<double>(a.scale) * b.scale * of_codes + e + f + e * f
       + rounding;
}

} // namespace atelier::index::detail
