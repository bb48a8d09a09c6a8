// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the scorer on renders and their captions against each other, and
/// later in the training also against captions that are wrong in one word.
/// Throughout the training, the vectors of images and of captions learn to
/// answer the questions of scene_answers.hpp by the same matrix, and squares of
/// images those about the object that covers them. Without the questions,
/// colours take minutes to learn but places take hours. The text tower starts
/// from the separately trained text encoder.
/// Figures, on held-out scenes: `ranked` and `ranked_N` are the shares of
/// renders (of N objects) whose caption scores above up to nine captions that
/// are wrong in one word. `beats_ABOUT` is the share of wrong captions that
/// score below the right one, by the kind of the wrong word. `sees_ABOUT` is
/// the share of an image's attributes that its vector answers correctly.
/// Throws model_error: ec::not_found (the text encoder is not trained yet),
/// ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_scorer_task(const training_config& config,
                                                torch::Device where);

} // namespace atelier::gpu
