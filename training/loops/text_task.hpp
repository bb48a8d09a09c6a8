// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the text encoder without a denoiser, to answer the questions of
/// caption_answers.hpp from its pooled state. An encoder that is trained only
/// together with a denoiser learns nothing but the background.
/// Figures, on captions of held-out scenes: `shape`, `colour` and so on are the
/// shares of right answers to the questions that captions answer. `unsaid` is
/// the share for the questions that captions leave open.
std::unique_ptr<training_task> make_text_task(const training_config& config,
                                              torch::Device where);

} // namespace atelier::gpu
