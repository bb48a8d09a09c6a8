// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>

#include <cstdint>

namespace atelier::gpu {

/// Purpose of a training's random numbers. Each purpose has its own streams.
enum class data_use : uint8_t {
  /// Images of the autoencoder's batches.
  images,
  noise,
  /// Held-out scenes and their captions.
  evaluation,
  weights,
  /// Scenes on which the scale of latents is measured.
  scaling,
  /// Scenes and captions of the text encoder's batches.
  texts,
  /// Scenes whose latents are kept.
  latents,
  /// Scenes, captions and timesteps of a denoiser's batches.
  samples,
  /// Scenes of the scorer's batches, and captions that do not fit them.
  pairs,
  /// Scenes and captions of the images that the discriminator learns from.
  drawings,
  /// Selection of images for the discriminator's batches.
  verdicts,
  /// Prompts whose images the classifier learns from.
  prompts,
  /// Selection of prompts for the classifier's batches.
  levels,
};

/// Returns the stream of sample or batch `number` of a purpose. The stream does
/// not depend on the caller or on the order of calls.
/// @pre number < 2^56
core::philox data_stream(uint64_t seed, data_use why, uint64_t number);

} // namespace atelier::gpu
