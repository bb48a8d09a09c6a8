// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains a smaller denoiser from the trained base: it learns what base
/// predicts, not what was drawn. Where much noise leaves open what the picture
/// is, base's prediction is the mean of all that it could be, and a small
/// network learns from far fewer samples. The text encoder is base's and stays
/// as it is.
/// Source: Kim et al., BK-SDM: a lightweight, fast, and cheap version of Stable
/// Diffusion (ECCV 2024), the loss on the output.
/// Names of weights, and throws: as make_denoiser_task, where base is not
/// trained yet too.
std::unique_ptr<training_task> make_student_task(const training_config& config,
                                                 torch::Device where);

} // namespace atelier::gpu
