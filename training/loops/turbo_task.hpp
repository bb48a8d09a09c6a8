// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains a denoiser for four steps without guidance from the trained base, as
/// which it begins: each of its steps learns what several guided steps of base
/// come to. The text encoder is base's and stays as it is.
/// Source: Salimans and Ho, Progressive distillation for fast sampling of
/// diffusion models (ICLR 2022), algorithm 2, with more than two steps of the
/// teacher; guidance: Meng et al., On distillation of guided diffusion models
/// (CVPR 2023).
/// Names of weights, and throws: as make_denoiser_task, where base is not
/// trained yet too.
std::unique_ptr<training_task> make_turbo_task(const training_config& config,
                                               torch::Device where);

} // namespace atelier::gpu
