// SPDX-License-Identifier: Apache-2.0
// This file is built with -ffp-contract=off, so that no platform fuses
// operations that another does not fuse.
#include <atelier/core/portable_math.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace atelier::core {

double portable_log(double x) {
  // Let x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  const auto bits = std::bit_cast<uint64_t>(x);
  auto e = static_cast<int64_t>(bits >> 52) - 1022;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFull)
                                   | 0x3FE0000000000000ull);
  if (m < std::numbers::sqrt2 / 2) {
    m = m * 2;
    --e;
  }
  // log m is 2 atanh s; s^2 <= 0.0295, so that 11 terms reach 1e-18.
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double sum = 0;
  for (int k = 23; k >= 3; k -= 2)
    sum = (sum + 1.0 / k) * z;
  // ln 2 has two parts, so that the first times e is exact.
  constexpr double ln2_high = 0x1.62E42FEE00000p-1;
  constexpr double ln2_low = 0x1.A39EF35793C76p-33;
  const auto n = static_cast<double>(e);
  return n * ln2_high + (2 * s + (2 * s * sum + n * ln2_low));
}

turn portable_turn(double turns) {
  // The reduction to an eighth of a turn is exact, because it works in turns.
  const auto quarter = static_cast<int>(std::floor(turns * 4 + 0.5));
  const double x = (turns - quarter * 0.25) * 2 * std::numbers::pi;
  const double z = x * x;
  double sine = 1;
  for (int k = 16; k >= 2; k -= 2)
    sine = 1 - sine * z / (k * (k + 1));
  sine = sine * x;
  double cosine = 1;
  for (int k = 17; k >= 1; k -= 2)
    cosine = 1 - cosine * z / (k * (k + 1));
  switch (quarter & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

} // namespace atelier::core
