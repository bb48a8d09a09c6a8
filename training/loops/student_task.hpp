// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains a smaller denoiser from the trained base. It learns base's
/// predictions, not the images themselves. If much noise leaves the image
/// undetermined, base predicts the mean of the possible images, so that a small
/// network needs far fewer samples. The text encoder is base's and does not
/// change.
/// Source: Kim et al., BK-SDM: a lightweight, fast, and cheap version of Stable
/// Diffusion (ECCV 2024), the loss on the output.
/// Names of weights and figures: as for make_denoiser_task.
/// Throws model_error: ec::not_found (the autoencoder or base is not trained
/// yet), ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_student_task(const training_config& config,
                                                 torch::Device where);

} // namespace atelier::gpu
