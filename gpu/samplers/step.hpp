// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/gpu/samplers/schedule.hpp>

#include <torch/torch.h>

#include <span>

namespace atelier::gpu {

/// The result of one step of a batch.
struct stepped_batch {
  /// [n, c, h, w], float32.
  torch::Tensor next;
  /// The prediction of the clean latent, float32. The next step reads it as
  /// `last`, and previews show it.
  torch::Tensor x0;
};

/// Copies numbers of rows to a device, without waiting for a GPU. An object
/// reused across steps allocates memory of the device only once.
class step_numbers {
public:
  /// Returns the values as [n], float32, on `device`; valid until the next
  /// call.
  torch::Tensor bring(std::span<const float> values, torch::Device device);

private:
  /// The copy on the host, if the device is neither the CPU nor a GPU.
  torch::Tensor host_;
  torch::Tensor device_;
};

/// Scales a batch of latents for the network: row i is scaled by
/// rules[i].input_scale.
torch::Tensor scale_input(const torch::Tensor& x,
                          std::span<const step_rule> rules, step_numbers& kept);
torch::Tensor scale_input(const torch::Tensor& x,
                          std::span<const step_rule> rules);

/// Mixes a guided and an unguided prediction, row i with scales[i], and pulls
/// the deviation of each row's result towards the guided one's by rescales[i].
/// Shape: [n, c, h, w]; computes in float32.
/// Source: classifier-free guidance; rescale: arXiv 2305.08891, section 3.4,
///         as diffusers' rescale_noise_cfg.
torch::Tensor guide(const torch::Tensor& unguided, const torch::Tensor& guided,
                    std::span<const float> scales,
                    std::span<const float> rescales, step_numbers& kept);
torch::Tensor guide(const torch::Tensor& unguided, const torch::Tensor& guided,
                    std::span<const float> scales,
                    std::span<const float> rescales);

/// Runs each row's rule. Rows of different samplers, steps and timesteps share
/// one call, and no row's result depends on another row.
/// Shape: x, out, last, noise [n, c, h, w]; x, last, noise float32; `last` and
/// `noise` may be undefined if no rule reads them.
stepped_batch step(const torch::Tensor& x, const torch::Tensor& out,
                   const torch::Tensor& last, const torch::Tensor& noise,
                   std::span<const step_rule> rules, step_numbers& kept);
stepped_batch step(const torch::Tensor& x, const torch::Tensor& out,
                   const torch::Tensor& last, const torch::Tensor& noise,
                   std::span<const step_rule> rules);

} // namespace atelier::gpu
