// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/sampler_run.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace atelier::gpu {

/// The functions of a denoiser that measurements use.
struct measured_denoiser {
  /// Maps ids [n, tokens] to context [n, tokens, width].
  std::function<torch::Tensor(const torch::Tensor&)> context;
  /// Maps latents, timesteps [n] and context to v.
  denoise_function predict;
  /// Map pixels to latents, and latents to pixels.
  std::function<torch::Tensor(const torch::Tensor&)> encode;
  std::function<torch::Tensor(const torch::Tensor&)> decode;
};

/// Parameters of a measurement.
struct denoiser_measurement {
  uint64_t seed = 1;
  torch::Device device{torch::kCPU};
  /// Number of held-out scenes whose loss is measured, and number of captions
  /// that are drawn for each number of objects.
  uint32_t losses = 64;
  uint32_t drawn = 24;
  uint32_t steps = 25;
  double guidance = 3;
  /// Number of threads that run in parallel.
  size_t threads = 1;
  /// File for a sheet of the drawn images. If it is empty, no sheet is written.
  std::filesystem::path sheet;
};

/// Measures a denoiser on held-out scenes. Figures: `loss_T` is the loss at
/// timestep T. `word_ATTRIBUTE_T` is the relative rise of that loss if the
/// caption of a single object names another colour, shape, place or background.
/// `objects_N`, `images_N`, `shapes_N` and so on are shares that the image
/// check finds right in images of captions of N objects.
/// Threads: records no autograd state.
std::map<std::string, double> measure_denoiser(const measured_denoiser& what,
                                               const denoiser_measurement& how);

/// Returns the noise levels of scheduler_config_text.
scheduler_config family_scheduler();

/// Returns the share of signal at each training timestep, in float32.
/// Source: the family's scheduler_config.json.
torch::Tensor family_signal_shares();

} // namespace atelier::gpu
