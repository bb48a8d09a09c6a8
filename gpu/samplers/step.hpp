// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/samplers/schedule.hpp>

#include <torch/torch.h>

#include <span>

namespace atelier::gpu {

/// What one step makes of a batch.
struct stepped_batch {
  /// [n, c, h, w], float32.
  torch::Tensor next;
  /// The prediction of the clean latent, float32: the next step's `last`, and
  /// what a preview shows.
  torch::Tensor x0;
};

/// Brings numbers of rows to a device. Kept from step to step, it makes tensors
/// the first time alone.
class step_numbers {
public:
  /// Returns the values as [n], float32, on `device`; they stay until the next
  /// call.
  torch::Tensor bring(std::span<const float> values, torch::Device device);

private:
  /// Where the device is not the CPU: what the values cross from.
  torch::Tensor host_;
  torch::Tensor device_;
};

/// Scales a batch of latents for the network: row i by rules[i].input_scale.
torch::Tensor scale_input(const torch::Tensor& x,
                          std::span<const step_rule> rules, step_numbers& kept);
torch::Tensor scale_input(const torch::Tensor& x,
                          std::span<const step_rule> rules);

/// Mixes a guided and an unguided prediction: row i by scales[i], and pulls the
/// deviation of each row's result towards the guided one's by rescales[i].
/// Shape: [n, c, h, w]; computes in float32.
/// Source: classifier-free guidance; rescale: arXiv 2305.08891, section 3.4,
///         as diffusers' rescale_noise_cfg.
torch::Tensor guide(const torch::Tensor& unguided, const torch::Tensor& guided,
                    std::span<const float> scales,
                    std::span<const float> rescales, step_numbers& kept);
torch::Tensor guide(const torch::Tensor& unguided, const torch::Tensor& guided,
                    std::span<const float> scales,
                    std::span<const float> rescales);

/// Runs each row's rule: rows of unlike samplers, steps and timesteps share
/// one call, and no row's result depends on another row.
/// Shape: x, out, last, noise [n, c, h, w]; x, last, noise float32; `last` and
/// `noise` may be undefined where no rule reads them.
stepped_batch step(const torch::Tensor& x, const torch::Tensor& out,
                   const torch::Tensor& last, const torch::Tensor& noise,
                   std::span<const step_rule> rules, step_numbers& kept);
stepped_batch step(const torch::Tensor& x, const torch::Tensor& out,
                   const torch::Tensor& last, const torch::Tensor& noise,
                   std::span<const step_rule> rules);

} // namespace atelier::gpu
