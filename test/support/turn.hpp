// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/scale.hpp"
#include "support/seed.hpp"

#include <cstddef>

namespace atelier::test {

/// Return whether case `index` of `count` that take long is to run: each at
/// full count, else one of them, by this run's seed.
/// Threads: any.
inline bool has_turn(std::size_t index, std::size_t count) {
  return scaled(1000) == 1000 || seed() % count == index;
}

} // namespace atelier::test
