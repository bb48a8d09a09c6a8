// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/gpu/training/loops/training_task.hpp>
#include <atelier/gpu/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the scorer: renders and their captions against each other and
/// against captions that are wrong in one word. Its tower for texts goes on
/// from the text encoder that was trained alone.
/// Figures, on held-out scenes: `ranked` and `ranked_N`: shares of renders (of
/// N objects) whose caption scores above nine that are wrong in one word;
/// `beats_ABOUT`: shares of those wrong captions, by what is wrong, that score
/// below the right one.
/// Throws model_error: ec::not_found (the text encoder is not trained yet),
/// ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_scorer_task(const training_config& config,
                                                torch::Device where);

} // namespace atelier::gpu
