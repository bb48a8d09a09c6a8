// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the discriminator. It predicts the share of a caption's objects that
/// are right in an image, as the image check measures it. It learns from
/// drawings of the lightest trained denoiser and from renders
/// (verdict_store.hpp). Its towers are the trained scorer's and do not change.
/// Source: DiffServe, section 3.2, whose network learns to distinguish a light
///         model's images from real ones. Here most of the light model's images
///         are right, and the faults of the others can be measured.
/// Figures, on drawings of held-out scenes: `correlation` is that of confidence
/// with the share of right objects. `drawn_high` and `drawn_low` are the shares
/// of right objects in the half with the higher and in the half with the lower
/// confidence. `score_high` and `score_low` are the same if the scorer's score
/// takes the place of the confidence.
/// Throws model_error: ec::not_found (no autoencoder, scorer or denoiser),
/// ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_discriminator_task(
  const training_config& config, torch::Device where);

} // namespace atelier::gpu
