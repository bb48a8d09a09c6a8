// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the prompt classifier. It predicts from a prompt the quality of the
/// prompt's image at each level of level_ladder whose denoiser is trained.
/// Quality is the share of objects that the image check finds right in one
/// image, drawn from the same noise at all levels. The classifier starts with
/// the first layers of the separately trained text encoder.
/// Figures, on prompts of held-out scenes: `quality_LEVEL` is the mean measured
/// quality, and `error_LEVEL` the mean absolute error of the prediction.
/// `same_level` is the share of prompts for which predicted and measured
/// qualities have the same tolerated level (argus::tolerated_level). `routed`
/// is the mean measured quality at the level predicted to be tolerated;
/// `shuffled` is the same if every prompt gets the level of a random one.
/// `routed_cost` is the mean cost of the predicted levels, as a share of the
/// slowest level's.
/// Source: Argus, sections 3 and 4.1, with qualities instead of classes, so
///         that the classifier can learn from single noisy images.
/// Throws model_error: ec::not_found (no autoencoder, text encoder or
/// denoiser), ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_classifier_task(
  const training_config& config, torch::Device where);

} // namespace atelier::gpu
