// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>

#include <cstdint>
#include <span>

namespace atelier::core {

/// Fill `out` with standard normal noise of the counter-based generator, the
/// stream (seed, purpose::noise). Values 16i..16i+15 depend on nothing but the
/// seed and i: a longer span starts with the values of a shorter one.
/// Threads: any.
void philox_randn(uint64_t seed, std::span<float> out);

/// Draws standard normal noise of the counter-based generator in turns: the
/// first `fill` gives what `philox_randn` does, each later one goes on in the
/// stream. The counterpart of torch_generator.
/// Invariant: a generator continued at `position` draws what this one draws
/// next.
/// Threads: one at a time; copies are independent.
class philox_generator {
public:
  /// Starts at the stream's beginning, or continues where another one stopped;
  /// `position`, below 2^58, is one that a generator told.
  explicit philox_generator(uint64_t seed, uint64_t position = 0);

  void fill(std::span<float> out);

  /// Returns how many 32-bit words were drawn so far: 16 for each 16 values
  /// begun.
  uint64_t position() const {
    return position_;
  }

private:
  void fill_chunks(std::span<float> out);

  philox words_;
  uint64_t position_;
};

} // namespace atelier::core
