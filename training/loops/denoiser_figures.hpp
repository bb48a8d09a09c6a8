// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/gpu/samplers/run.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace atelier::gpu {

/// A denoiser as far as it is measured.
struct measured_denoiser {
  /// ids [n, tokens] -> context [n, tokens, width].
  std::function<torch::Tensor(const torch::Tensor&)> context;
  /// latents, timesteps [n], context -> v.
  denoise_function predict;
  /// pixels -> latents, and back.
  std::function<torch::Tensor(const torch::Tensor&)> encode;
  std::function<torch::Tensor(const torch::Tensor&)> decode;
};

/// What is measured.
struct denoiser_measurement {
  uint64_t seed = 1;
  torch::Device where{torch::kCPU};
  /// Held-out scenes whose loss is measured, and captions that are drawn, for
  /// each number of objects.
  uint32_t losses = 64;
  uint32_t drawn = 24;
  uint32_t steps = 25;
  double guidance = 3;
  /// Threads that work side by side.
  size_t threads = 1;
  /// A sheet of the drawn pictures; none where it is empty.
  std::filesystem::path sheet;
};

/// Measures a denoiser on held-out scenes. Figures: `loss_T`: at timestep T;
/// `word_ATTRIBUTE_T`: by how much the loss rises where the caption of a single
/// object says another colour, shape, place or background, as a share of it;
/// `objects_N`, `pictures_N`, and `shapes_N` and so on: shares that the picture
/// check finds right in pictures of captions of N objects.
/// Threads: records no autograd state.
std::map<std::string, double> measure_denoiser(const measured_denoiser& what,
                                               const denoiser_measurement& how);

/// Returns the noise levels of scheduler_config_text.
scheduler_config family_scheduler();

/// Returns the share of signal, by training timestep, in float32.
/// Source: the family's scheduler_config.json.
torch::Tensor family_signal_shares();

} // namespace atelier::gpu
