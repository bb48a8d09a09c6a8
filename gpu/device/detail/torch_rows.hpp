// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/device/detail/free_memory.hpp>
#include <atelier/gpu/device/detail/model_shelf.hpp>
#include <atelier/gpu/device/detail/pass_cache.hpp>
#include <atelier/gpu/device/detail/pass_limits.hpp>
#include <atelier/gpu/device/detail/prompt_cache.hpp>
#include <atelier/gpu/device/detail/row_engine.hpp>
#include <atelier/gpu/device/detail/torch_row.hpp>
#include <atelier/gpu/device/detail/torch_threads.hpp>
#include <atelier/gpu/models/judge/image_judge.hpp>
#include <atelier/gpu/models/model.hpp>
#include <atelier/ipc/slot_store.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace atelier::gpu::detail {

/// The models that a device has.
using hosted_models = model_shelf<gpu::model>;

/// The judges that score images, by the name that jobs use.
using hosted_judges =
  std::map<std::string, std::shared_ptr<const image_judge>, std::less<>>;

/// The open rows of a device that runs LibTorch.
///
/// Rows of one model and one latent shape share a forward pass, whatever their
/// prompts, steps, samplers and guidance. A guided row takes two places in it,
/// an unguided one takes one. A deterministic row of a model that is not
/// batch-invariant runs in a pass of its own, because the bits of its products
/// depend on the batch size. A pass that does not fit the device's memory is
/// run in smaller ones.
///
/// Images are decoded at once only if the free memory holds each of them whole
/// beside the others. Where the free memory is unknown, they are decoded one
/// after another.
class torch_rows final : public row_engine {
public:
  /// @param memory what a device has left
  torch_rows(std::shared_ptr<hosted_models> models, hosted_judges judges,
             std::shared_ptr<ipc::slot_store> slots, torch_threads threads,
             memory_probe memory = free_memory);

  void begin() override;
  void open(const open_job& job) override;
  void close(core::ticket who) override;
  uint32_t steps_left(const std::vector<core::ticket>& who,
                      uint32_t most) override;
  void step(const std::vector<core::ticket>& who) override;
  std::vector<row_report> report(const std::vector<core::ticket>& who) override;
  bool may_begin(core::ticket who) override;
  std::optional<decode_report> decode_part(core::ticket who) override;

private:
  /// Returns what is free on a device once no image is being decoded.
  std::optional<uint64_t> free_when_idle(const torch::Device& of) const;
  std::vector<torch_row*> sound(const std::vector<core::ticket>& who);
  /// Runs a step of rows that may share a pass, in as few as fit the memory.
  void step_in_parts(const std::vector<torch_row*>& rows);

  const std::shared_ptr<hosted_models> models_;
  const hosted_judges judges_;
  const std::shared_ptr<ipc::slot_store> slots_;
  const torch_threads threads_;
  const memory_probe memory_;
  prompt_cache prompts_;
  source_cache sources_;
  pass_cache passes_;
  pass_limits limits_;
  /// The number of rows opened so far.
  uint64_t opened_ = 0;
  std::unordered_map<core::ticket, std::unique_ptr<torch_row>> rows_;
};

} // namespace atelier::gpu::detail
