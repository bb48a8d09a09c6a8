// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains a denoiser for four steps without guidance. It starts with the
/// weights of the trained base, and each of its steps learns the result of two
/// guided steps of base. The text encoder is base's and does not change.
/// Source: Salimans and Ho, Progressive distillation for fast sampling of
/// diffusion models (ICLR 2022), algorithm 2, run once. Guidance: Meng et al.,
/// On distillation of guided diffusion models (CVPR 2023).
/// Names of weights and figures: as for make_denoiser_task.
/// Throws model_error: ec::not_found (the autoencoder or base is not trained
/// yet), ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_turbo_task(const training_config& config,
                                               torch::Device where);

} // namespace atelier::gpu
