// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>

#include <cstdint>
#include <span>

namespace atelier::core {

/// Fills `out` with standard normal noise of the counter-based generator, from
/// the stream (seed, purpose::noise). Values 16i..16i+15 depend only on the
/// seed and i: a longer span starts with the values of a shorter one.
/// Threads: any.
void philox_randn(uint64_t seed, std::span<float> out);

/// Draws standard normal noise of the counter-based generator in several calls.
/// The first `fill` gives the values of `philox_randn`, and each later one
/// continues the stream. This is the counterpart of torch_generator.
/// Invariant: a generator continued at `position` draws what this one draws
/// next.
/// Threads: one at a time; copies are independent.
class philox_generator {
public:
  /// Starts at the stream's beginning, or continues where another generator
  /// stopped. `position`, below 2^58, is one that a generator returned.
  explicit philox_generator(uint64_t seed, uint64_t position = 0);

  void fill(std::span<float> out);

  /// Returns the number of 32-bit words drawn so far: 16 for each 16 values
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
