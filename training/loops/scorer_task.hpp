// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the scorer: renders and their captions against each other, and in
/// the later part of the training against captions that are wrong in one word.
/// All the time the vectors of pictures and of captions answer what is shown
/// and said (scene_answers.hpp) by the same matrix, and squares of pictures
/// what covers them: pairs alone teach colours within minutes, and places
/// within hours. The tower for texts goes on from the text encoder that was
/// trained alone.
/// Figures, on held-out scenes: `ranked` and `ranked_N`: shares of renders (of
/// N objects) whose caption scores above nine that are wrong in one word;
/// `beats_ABOUT`: shares of those wrong captions, by what is wrong, that score
/// below the right one; `sees_ABOUT`: shares of what a picture shows that its
/// vector tells.
/// Throws model_error: ec::not_found (the text encoder is not trained yet),
/// ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_scorer_task(const training_config& config,
                                                torch::Device where);

} // namespace atelier::gpu
