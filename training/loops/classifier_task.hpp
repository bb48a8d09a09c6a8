// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the prompt classifier: from a prompt alone, the quality of its
/// picture at each level of level_ladder whose denoiser is trained. Quality is
/// the share of objects that the picture check finds right in one picture,
/// from the same noise at all levels. It goes on from the first layers of the
/// text encoder that was trained alone.
/// Figures, on prompts of held-out scenes: `quality_LEVEL`: measured mean;
/// `error_LEVEL`: mean of the expected one's absolute error; `same_level`: how
/// often the tolerated level (level_ladder.hpp) of expected and measured
/// qualities is the same; `routed`: mean measured quality at the level expected
/// to be tolerated, `shuffled`: the same where prompts have each other's
/// levels, `routed_cost`: mean cost of the levels, as a share of the slowest.
/// Source: Argus, sections 3 and 4.1; qualities instead of classes, so that
///         single noisy pictures can be learned from.
/// Throws model_error: ec::not_found (no autoencoder, text encoder or
/// denoiser), ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_classifier_task(
  const training_config& config, torch::Device where);

} // namespace atelier::gpu
