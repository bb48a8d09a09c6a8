// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the autoencoder on pictures of scenes: absolute and squared
/// differences of pixels, absolute ones of neighbours' differences, and a
/// little of the distribution's divergence from the normal one.
/// Figures: `psnr` in dB; `objects`, `pictures`: shares that the picture check
/// finds right in reconstructions, and `render_objects`, `render_pictures` in
/// the renders; `textures`; `noise`: mean deviation of drawn latents, in
/// deviations of their means.
std::unique_ptr<training_task> make_autoencoder_task(
  const training_config& config, torch::Device where);

} // namespace atelier::gpu
