// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains a denoiser with its text encoder, which goes on from the one trained
/// alone, on latents of the trained autoencoder. The network predicts v.
/// Names of weights: "unet." and "text_encoder." before those of diffusers and
/// transformers.
/// Figures: those of measure_denoiser.
/// Throws model_error: ec::not_found (the autoencoder or the text encoder is
/// not trained yet), ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_denoiser_task(const training_config& config,
                                                  torch::Device where);

} // namespace atelier::gpu
