// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

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

/// What passes of one model and one key write into. A second pass makes no
/// tensor on the host.
struct kept_pass {
  /// A model that is gone matches none.
  std::weak_ptr<const model> of;
  pass_key key;
  pass_inputs inputs;
  /// Which condition stands in each place; 0: none yet.
  std::vector<uint64_t> conditions;
  step_numbers timesteps;
  step_numbers scales;
  step_numbers rules;
  step_numbers guidance;
};

/// The passes that were run last.
/// Threads: one at a time.
class pass_cache {
public:
  /// So many passes have their inputs on the device at once.
  static constexpr size_t most_entries = 8;

  /// Returns what a pass of that key writes into, made where it is not held.
  /// It stays until other keys have taken its place. Throws c10::Error.
  kept_pass& find(const std::shared_ptr<const model>& of, const pass_key& key);

private:
  /// The last used first.
  std::list<kept_pass> entries_;
};

} // namespace atelier::gpu::detail
