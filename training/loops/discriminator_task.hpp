// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// Trains the discriminator: how many of a caption's objects are right in a
/// picture, by the picture check, on drawings of the lightest trained denoiser
/// and on renders (verdict_store.hpp). Its towers are the trained scorer's and
/// do not change.
/// Source: DiffServe, section 3.2, where the network learns to tell a light
///         model's pictures from real ones; here most of those are right, and
///         what is wrong in the others can be found out.
/// Figures, on held-out scenes: `correlation` of confidence and objects right
/// over drawings; `drawn_high` and `drawn_low`: shares of objects right in the
/// half of drawings that it is more, and less, confident of; `score_high` and
/// `score_low`: the same by the scorer alone.
/// Throws model_error: ec::not_found (no autoencoder, scorer or denoiser),
/// ec::bad_payload, ec::io_failed.
std::unique_ptr<training_task> make_discriminator_task(
  const training_config& config, torch::Device where);

} // namespace atelier::gpu
