// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/samplers/schedule.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <functional>

namespace atelier::gpu {

/// A denoiser: latents [n, c, h, w], timesteps [n], context [n, tokens, width]
/// -> its prediction, as latents.
using denoise_function = std::function<torch::Tensor(
  const torch::Tensor&, const torch::Tensor&, const torch::Tensor&)>;

/// A run of n rows that begin and end together, outside of any server: for
/// training and evaluation.
struct sampler_run {
  sampler_plan plan;
  /// [n, tokens, width].
  torch::Tensor context;
  /// [1, tokens, width], of the empty text; not looked at where guidance is 1.
  torch::Tensor unsaid;
  float guidance = 1;
  /// Steps that are left out: the run begins with what the one before them
  /// left. 0 for plans that need the last prediction.
  size_t first = 0;
  /// Draws the fresh noise of a step, shaped as x; called for steps that draw.
  std::function<torch::Tensor(size_t step)> noise;
  /// Told what each step leaves; may be empty.
  std::function<void(size_t step, const torch::Tensor& x)> told;
};

/// Runs a plan's steps and returns the last latents, float32.
/// `x`: [n, c, h, w], float32: noise times plan.start_noise where first is 0.
/// Threads: as `denoise`.
/// @pre first < plan.steps.size()
torch::Tensor run_sampler(const denoise_function& denoise, torch::Tensor x,
                          const sampler_run& how);

} // namespace atelier::gpu
