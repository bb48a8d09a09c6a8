// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/denoiser.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/layers/placement.hpp>
#include <atelier/gpu/models/mmdit/mmdit_config.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Indices of a transformer's conditions in pass_inputs.
enum mmdit_condition : size_t {
  /// [places, tokens, text_width].
  text_condition,
  /// [places, pooled_width].
  pooled_text_condition,
  mmdit_conditions,
};

/// The denoiser of Stable Diffusion 3 (diffusers' SD3Transformer2DModel), a
/// sequence of joint blocks.
/// Threads: one at a time; neither needs nor records autograd state.
class mmdit final : public denoiser {
public:
  /// Errors: as unet::load.
  static core::result<std::unique_ptr<mmdit>> load(const component& from,
                                                   const placement& where);

  ~mmdit() override;
  mmdit(const mmdit&) = delete;
  mmdit& operator=(const mmdit&) = delete;

  const mmdit_config& config() const;

  std::span<const block_info> blocks() const override;
  pass begin(const pass_inputs& x, activations& state) const override;
  void run(size_t index, const pass& of, activations& state) const override;
  torch::Tensor end(const pass& of, activations& state) const override;
  bool is_batch_invariant() const override;
  uint64_t weight_bytes() const override;

private:
  struct impl;
  explicit mmdit(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::gpu
