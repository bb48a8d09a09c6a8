// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>

#include <cstdint>
#include <string_view>

namespace atelier::planning {

/// Name of the judge whose scores are drawn uniformly, whatever the picture.
inline constexpr std::string_view random_judge = "random";

/// Returns what it says of a picture drawn with this seed: a number in 0..1,
/// the same for the same seed.
inline double random_score(uint64_t seed) {
  return core::philox{seed, core::purpose::routing}.uniform();
}

} // namespace atelier::planning
