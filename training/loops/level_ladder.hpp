// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/training/train.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace atelier::gpu {

/// A variant of the family with its number of steps and its guidance.
struct approximation_level {
  training_part variant = training_part::base;
  uint32_t steps = 0;
  /// Cost of a step with guidance 1, relative to base's.
  double step_cost = 1;
  /// Any value but 1 doubles the cost of a step. Turbo needs no other value.
  float guidance = 2;

  /// Returns the cost of an image, in steps of base with guidance 1.
  double cost() const {
    return step_cost * steps * (guidance == 1 ? 1 : 2);
  }
};

/// The levels whose qualities the prompt classifier predicts, from the slowest
/// and best to the fastest. Costs of steps are guesses from the networks'
/// sizes; only their order matters.
inline constexpr std::array<approximation_level, 5> level_ladder{{
  {training_part::base, 50, 1, 2},
  {training_part::base, 20, 1, 2},
  {training_part::small, 20, 0.7, 2},
  {training_part::tiny, 20, 0.5, 2},
  {training_part::turbo, 4, 1, 1},
}};

/// Returns the variant and the number of steps, such as "base@50".
std::string name_of(const approximation_level& x);

} // namespace atelier::gpu
