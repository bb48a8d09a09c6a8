// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the autoencoder on images of scenes. The loss is that of
/// compare_images, plus a small weight times the divergence of the latents'
/// distribution from the standard normal one.
/// Figures: `psnr` is in dB. `objects`, `pictures`, `textures`, `shapes` and
/// `colours` are shares that the image check finds right in reconstructions;
/// `render_objects` and `render_images` are those of the renders. `noise` is
/// the mean standard deviation with which latents are drawn, divided by the
/// standard deviation of their means.
std::unique_ptr<training_task> make_autoencoder_task(
  const training_config& config, torch::Device where);

} // namespace atelier::gpu
