// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>

#include <cstdint>
#include <string_view>

namespace atelier::planning {

/// The name of the judge whose scores are uniformly random, whatever the image.
inline constexpr std::string_view random_judge = "random";

/// Returns its score for an image drawn with this seed: a number in 0..1, the
/// same for the same seed.
inline double random_score(uint64_t seed) {
  return core::philox{seed, core::purpose::routing}.uniform();
}

} // namespace atelier::planning
