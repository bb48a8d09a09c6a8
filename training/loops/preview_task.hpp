// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains a small AutoencoderTiny for the autoencoder's latents: its decoder
/// gives the pictures that they were encoded from, its encoder the latents.
/// Figures: `psnr` in dB and `objects`, `pictures`: shares that the picture
/// check finds right, of what it decodes; `code`: mean square of what its
/// latents are off, whose own mean square is about 1.
/// Throws model_error (ec::not_found) where the autoencoder is not trained.
std::unique_ptr<training_task> make_preview_task(const training_config& config,
                                                 torch::Device where);

} // namespace atelier::gpu
