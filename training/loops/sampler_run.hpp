// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <atelier/gpu/samplers/schedule.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <functional>

namespace atelier::gpu {

/// A denoiser. Maps latents [n, c, h, w], timesteps [n] and context [n, tokens,
/// width] to its prediction, shaped as the latents.
using denoise_function = std::function<torch::Tensor(
  const torch::Tensor&, const torch::Tensor&, const torch::Tensor&)>;

/// A run of n rows that begin and end together, independent of a server: for
/// training and evaluation.
struct sampler_run {
  sampler_plan plan;
  /// [n, tokens, width].
  torch::Tensor context;
  /// [1, tokens, width], of the empty text; not used if guidance is 1.
  torch::Tensor unsaid;
  float guidance = 1;
  /// Steps to skip: the run begins with the latents after them. 0 for plans
  /// that need the last prediction.
  size_t first = 0;
  /// Draws a step's noise, shaped as x. Called only for steps that draw noise.
  std::function<torch::Tensor(size_t step)> noise;
  /// Called with the latents after each step; may be empty.
  std::function<void(size_t step, const torch::Tensor& x)> told;
};

/// Runs a plan's steps and returns the last latents, float32.
/// `x`: [n, c, h, w], float32; noise times plan.start_noise if first is 0.
/// Threads: as `denoise`.
/// @pre first < plan.steps.size()
torch::Tensor run_sampler(const denoise_function& denoise, torch::Tensor x,
                          const sampler_run& how);

} // namespace atelier::gpu
