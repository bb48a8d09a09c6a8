// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/train.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace atelier::gpu {

/// A way to draw a prompt with the family.
struct approximation_level {
  training_part variant = training_part::base;
  uint32_t steps = 0;
  /// Of a step with guidance 1, base's is 1; turbo needs no other guidance.
  double step_cost = 1;
  float guidance = 2;

  /// Returns what a picture costs in base's steps.
  double cost() const {
    return step_cost * steps * (guidance == 1 ? 1 : 2);
  }
};

/// Levels from the slowest and best to the fastest: what the prompt classifier
/// tells apart. Costs of steps are guesses from the networks' sizes; only
/// their order matters.
inline constexpr std::array<approximation_level, 5> level_ladder{{
  {training_part::base, 50, 1, 2},
  {training_part::base, 20, 1, 2},
  {training_part::small, 20, 0.7, 2},
  {training_part::tiny, 20, 0.5, 2},
  {training_part::turbo, 4, 1, 1},
}};

/// Returns "base@50".
std::string name_of(const approximation_level& x);

} // namespace atelier::gpu
