// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>

#include <cstdint>

namespace atelier::gpu {

/// What random numbers of a training are drawn for; each has its own streams.
enum class data_use : uint8_t {
  /// Pictures of the autoencoder's batches.
  pictures,
  noise,
  /// Held-out scenes, their captions and noise.
  evaluation,
  weights,
  /// Scenes that the scale of latents is measured on.
  scaling,
  /// Scenes and captions of the text encoder's batches.
  texts,
  /// Scenes whose latents are kept.
  latents,
  /// What a denoiser's batch is made of.
  samples,
  /// Scenes of the scorer's batches, and captions that do not fit them.
  pairs,
  /// Captions that a light variant draws for the discriminator, and what its
  /// batches are made of.
  drawings,
  verdicts,
  /// Prompts whose pictures the classifier learns from, and its batches.
  prompts,
  levels,
};

/// Returns the stream of the `number`th sample or batch of a use: the same
/// whoever asks for it, and in whatever order.
/// @pre number < 2^56
core::philox data_stream(uint64_t seed, data_use why, uint64_t number);

} // namespace atelier::gpu
