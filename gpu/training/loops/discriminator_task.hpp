// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/training/loops/training_task.hpp>
#include <atelier/gpu/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the discriminator: renders that passed through the autoencoder, with
/// their captions, are good; what the lightest trained denoiser draws for its
/// captions is not, nor is a good picture whose caption is wrong in one word.
/// It goes on from the text encoder that was trained alone.
/// Figures, on held-out scenes: `real_above_drawn` and `right_above_wrong`: how
/// often one of the first kind scores above one of the second (1/2: no
/// better than a coin); `drawn_high` and `drawn_low`: the share of objects that
/// the picture check finds right in drawings that score above the median, and
/// below it: what a cascade gains by it.
/// Source: DiffServe, section 3.2; wrong captions: GAN-CLS (arXiv:1605.05396).
/// Throws model_error: ec::not_found (no autoencoder, text encoder or
/// denoiser), ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_discriminator_task(
  const training_config& config, torch::Device where);

} // namespace atelier::gpu
