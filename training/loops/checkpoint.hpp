// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/core/result.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu {

using named_tensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// State of a training that is not a tensor.
struct checkpoint_facts {
  std::string part;
  uint64_t seed = 0;
  /// Number of steps taken. It is also the number of the next step, and
  /// therefore of its batch: random numbers have no other state.
  uint64_t steps = 0;
  uint64_t samples = 0;
  double busy_seconds = 0;

  friend bool operator==(const checkpoint_facts&,
                         const checkpoint_facts&) = default;
};

/// Writes tensors as safetensors. The file is written completely or not at all.
/// Errors: those of write_safetensors.
core::result<void> write_tensors(
  const std::filesystem::path& file, const named_tensors& what,
  const std::map<std::string, std::string, std::less<>>& metadata = {});

/// Reads the file's tensors into the tensors of `what`.
/// Errors: ec::bad_payload if a tensor is missing or has another shape or type.
core::result<void> read_tensors(const std::filesystem::path& file,
                                const named_tensors& what);

/// Writes `checkpoint-STEPS.safetensors` and removes all checkpoints but the
/// last two.
core::result<std::filesystem::path> write_checkpoint(
  const std::filesystem::path& folder, const named_tensors& state,
  const checkpoint_facts& facts);

/// Returns the checkpoints of a folder, the latest first.
std::vector<std::filesystem::path> checkpoints_in(
  const std::filesystem::path& folder);

/// Reads a checkpoint's facts, then its tensors into the tensors of `state`.
/// Errors: ec::bad_payload; `state` may have changed in this case.
core::result<checkpoint_facts> read_checkpoint(
  const std::filesystem::path& file, const named_tensors& state);

} // namespace atelier::gpu
