// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/denoiser.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/placement.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>

namespace atelier::gpu {

/// One forward pass over a batch of n rows.
struct unet_input {
  /// [n, in_channels, h, w].
  torch::Tensor sample;
  /// [n], float32: each row's own timestep.
  torch::Tensor timestep;
  /// [n, tokens, cross_attention_dim].
  torch::Tensor context;
  /// [n, p]: pooled text, where the config has addition_embed_type.
  torch::Tensor pooled;
  /// [n, 5 or 6]: micro-conditioning, where addition_embed_type is text_time.
  torch::Tensor time_ids;
  /// [n, time_cond_proj_dim]: embedded guidance, where the config has it.
  torch::Tensor guidance_embedding;
};

/// Where a U-Net's conditions stand in pass_inputs; those that its config does
/// not have are undefined.
enum unet_condition : size_t {
  context_condition,
  pooled_condition,
  time_ids_condition,
  guidance_condition,
  unet_conditions,
};

/// The denoiser of Stable Diffusion (diffusers' UNet2DConditionModel). Its
/// blocks are the levels down, the middle and the levels up.
/// Threads: one at a time; needs no autograd and records none.
class unet final : public denoiser {
public:
  /// Takes the weights out of `from`, laid out for the device once.
  /// Errors: ec::bad_config (a key that is not supported, by name),
  ///         ec::bad_payload (a tensor missing, extra or of another shape).
  static core::result<std::unique_ptr<unet>> load(const component& from,
                                                  const placement& where);

  ~unet() override;
  unet(const unet&) = delete;
  unet& operator=(const unet&) = delete;

  /// Runs a whole pass. Returns [n, out_channels, h, w] in the placement's
  /// type.
  torch::Tensor forward(const unet_input& x) const;

  const unet_config& config() const;

  std::span<const block_info> blocks() const override;
  pass begin(const pass_inputs& x, activations& state) const override;
  void run(size_t index, const pass& of, activations& state) const override;
  torch::Tensor end(const pass& of, activations& state) const override;
  uint64_t weight_bytes() const override;

private:
  struct impl;
  explicit unet(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

/// Returns the sinusoidal embedding of guidance scales that a model distilled
/// with guidance takes: `scales` [n] float32 -> [n, dim] float32.
/// Source: diffusers, LatentConsistencyModelPipeline
///         .get_guidance_scale_embedding, of `scale - 1`.
torch::Tensor embed_guidance(const torch::Tensor& scales, int64_t dim);

} // namespace atelier::gpu
