// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>

namespace atelier::core {

/// Draws what one torch.Generator("cpu").manual_seed(seed) gives to successive
/// torch.randn calls. Each `fill` is one call, with the bits that `torch_randn`
/// describes. Only the seed's lower 32 bits count, as in `torch_randn`.
/// Invariant: a generator continued at `position` with `spare` draws what this
/// one draws next.
/// Threads: one at a time; copies are independent.
/// Source:  matched bit for bit against PyTorch 2.13.0
///          (ATen/native/cpu/DistributionTemplates.h,
///          ATen/core/DistributionsHelper.h).
class torch_generator {
public:
  /// Starts at the stream's beginning, or continues where another one stopped.
  /// Skipping takes four nanoseconds a word, so a position from outside needs a
  /// bound.
  explicit torch_generator(uint64_t seed, uint64_t position = 0,
                           std::optional<double> spare = {});

  /// Fills `out` as torch.randn(out.size(), generator=...) does in float32.
  void fill(std::span<float> out);

  /// Returns how many 32-bit words were drawn so far.
  uint64_t position() const {
    return position_;
  }

  /// Returns the normal value that a call for fewer than 16 values left over;
  /// the next such call begins with it. Longer calls do not use it, so that a
  /// run that never requests fewer than 16 values resumes from `position` only.
  std::optional<double> spare() const {
    return spare_;
  }

private:
  double uniform();
  double few();
  void fill_many(std::span<float> out);

  std::mt19937 twister_;
  uint64_t position_;
  std::optional<double> spare_;
};

} // namespace atelier::core
