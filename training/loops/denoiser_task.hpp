// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains a denoiser and its text encoder on latents of the trained
/// autoencoder. The text encoder starts from the separately trained one. The
/// denoiser predicts v.
/// Names of weights: those of diffusers with the prefix "unet.", and those of
/// transformers with the prefix "text_encoder.".
/// Figures: those of measure_denoiser.
/// Throws model_error: ec::not_found (the autoencoder or the text encoder is
/// not trained yet), ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_denoiser_task(const training_config& config,
                                                  torch::Device where);

} // namespace atelier::gpu
