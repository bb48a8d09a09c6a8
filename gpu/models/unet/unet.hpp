// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/denoiser.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/layers/placement.hpp>
#include <atelier/gpu/models/unet/unet_config.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>

namespace atelier::gpu {

/// Inputs of one forward pass for a batch of n rows.
struct unet_input {
  /// [n, in_channels, h, w].
  torch::Tensor sample;
  /// [n], float32: each row's own timestep.
  torch::Tensor timestep;
  /// [n, tokens, cross_attention_dim].
  torch::Tensor context;
  /// [n, p]: pooled text, if the config has addition_embed_type.
  torch::Tensor pooled;
  /// [n, 5 or 6]: micro-conditioning, if addition_embed_type is text_time.
  torch::Tensor time_ids;
  /// [n, time_cond_proj_dim]: embedded guidance, if the config has it.
  torch::Tensor guidance_embedding;
};

/// Indices of a U-Net's conditions in pass_inputs; conditions that its config
/// does not have are undefined.
enum unet_condition : size_t {
  context_condition,
  pooled_condition,
  time_ids_condition,
  guidance_condition,
  unet_conditions,
};

/// The denoiser of Stable Diffusion (diffusers' UNet2DConditionModel). Its
/// blocks are the downward levels, the middle and the upward levels.
/// Threads: one at a time; neither needs nor records autograd state.
class unet final : public denoiser {
public:
  /// Loads the weights from `from`, in the layout of the device.
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
  bool is_batch_invariant() const override;
  uint64_t weight_bytes() const override;

private:
  struct impl;
  explicit unet(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

/// Returns the sinusoidal embedding of guidance scales for a model distilled
/// with guidance: `scales` [n] float32 -> [n, dim] float32.
/// Source: diffusers, LatentConsistencyModelPipeline
///         .get_guidance_scale_embedding, of `scale - 1`.
torch::Tensor embed_guidance(const torch::Tensor& scales, int64_t dim);

} // namespace atelier::gpu
