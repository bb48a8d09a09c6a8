// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/level_ladder.hpp>

#include <fmt/format.h>

namespace atelier::gpu {

std::string name_of(const approximation_level& x) {
  return fmt::format("{}@{}", to_string(x.variant), x.steps);
}

} // namespace atelier::gpu
