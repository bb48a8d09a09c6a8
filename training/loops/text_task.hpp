// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the text encoder alone: to say everything that a caption says from
/// its pooled state. Without this it learns nothing beside a denoiser but the
/// background.
/// Figures: the share of right answers by attribute, of those that captions of
/// held-out scenes give (`shape`, `colour`, ...), and `unsaid`: of those that
/// they leave open.
std::unique_ptr<training_task> make_text_task(const training_config& config,
                                              torch::Device where);

} // namespace atelier::gpu
