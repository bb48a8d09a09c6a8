// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/level_ladder.hpp>

#include <fmt/format.h>

#include <cmath>

namespace atelier::gpu {

std::string name_of(const approximation_level& x) {
  return fmt::format("{}@{}", to_string(x.variant), x.steps);
}

size_t tolerated_level(std::span<const double> quality, double tolerance) {
  auto best = -HUGE_VAL;
  for (const auto x : quality)
    if (x > best)
      best = x;
  for (auto i = quality.size(); i > 0; --i)
    if (quality[i - 1] >= tolerance * best)
      return i - 1;
  return 0;
}

} // namespace atelier::gpu
