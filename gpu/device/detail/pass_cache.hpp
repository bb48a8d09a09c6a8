// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/models/model.hpp>
#include <atelier/gpu/samplers/step.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

namespace atelier::gpu::detail {

/// Input buffers of forward passes with one model and one key. From the second
/// pass on, no tensor is allocated on the host, but small pinned ones for a
/// GPU, whose memory LibTorch keeps.
struct kept_pass {
  /// The model; an expired one matches none.
  std::weak_ptr<const model> of;
  pass_key key;
  pass_inputs inputs;
  /// The number of the condition written to each place; 0: none yet.
  std::vector<uint64_t> conditions;
  /// What the model computed from the conditions in place. `inputs` points to
  /// it while the pass is in use.
  kept_results results;
  /// The number of the last `find` that returned it.
  uint64_t used = 0;
  step_numbers timesteps;
  step_numbers scales;
  step_numbers rules;
  step_numbers guidance;
};

/// The most recently used passes.
/// Threads: one at a time.
class pass_cache {
public:
  /// Passes whose inputs are kept on the device at once.
  static constexpr size_t most_entries = 8;
  /// Bytes that all passes together keep of results of their conditions. A
  /// guided row of 77 tokens takes 98 MiB in float32 by a U-Net whose 70
  /// attention layers have 640 or 1280 channels.
  static constexpr uint64_t most_result_bytes = 256ull << 20;

  /// Returns the buffers for passes with that key, and creates them if they are
  /// not held. They stay until other keys replace them. Throws c10::Error.
  kept_pass& find(const std::shared_ptr<const model>& of, const pass_key& key);

  /// Drops the results of passes in which one of these conditions has a place.
  void forget_results(std::span<const uint64_t> conditions);

  /// Returns the bytes of results that are kept.
  uint64_t result_bytes() const;

  /// Frees all buffers.
  void clear() {
    entries_.clear();
  }

private:
  kept_pass& with_results(kept_pass& x);
  bool in_turn(const kept_pass& x) const;

  /// Most recently used first.
  std::list<kept_pass> entries_;
  uint64_t finds_ = 0;
};

} // namespace atelier::gpu::detail
