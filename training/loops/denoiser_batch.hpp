// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/training/scene.hpp>

#include <cstdint>
#include <vector>

namespace atelier::gpu {

/// How a denoiser's batches are drawn.
struct denoiser_plan {
  uint32_t batch = 32;
  /// Scenes whose latents are there before the first step, how many each step
  /// adds, and how many there are in the end.
  uint64_t first_scenes = 4096;
  uint32_t scenes_a_step = 4;
  uint64_t most_scenes = 262'144;
  /// Batches that may be drawn ahead: scenes are used so many steps later than
  /// they are added.
  uint64_t lag = 64;
  /// Captions left out, for guidance.
  double uncaptioned = 0.1;
  /// Share of timesteps drawn as 1000 u^exponent, u even in 0..1: densely where
  /// little but noise is left, since places are decided there; the others are
  /// even.
  double dense = 0.75;
  double exponent = 0.35;
  /// So many steps see scenes of one object alone, all timesteps drawn densely.
  /// Mixed from the start, after 120,000 samples no word of place had any
  /// effect; 20,000 samples of this, and it raised the loss by 16 %.
  uint64_t single_steps = 4000;
  /// How many scenes of ten have one object, and two; the others three.
  uint32_t single_of_ten = 5;
  uint32_t double_of_ten = 3;
};

/// Returns how many scenes' latents the batch of a step may use.
uint64_t scenes_at(const denoiser_plan& plan, uint64_t step);

/// Returns how many groups of `scenes_a_step` are wanted at a step, besides
/// the first ones: one more with each, to the most.
uint64_t groups_at(const denoiser_plan& plan, uint64_t step);

/// Draws the scene of a number, of the training split.
scene latent_scene(uint64_t seed, uint64_t number, const denoiser_plan& plan);

/// What a step is made of.
struct denoiser_batch {
  /// Numbers of the scenes.
  std::vector<uint64_t> scenes;
  /// [batch, family_tokens].
  std::vector<int64_t> ids;
  /// Whole numbers in 0..999.
  std::vector<int64_t> timesteps;
};

/// Returns how many objects the scene of a number has.
uint32_t objects_in(uint64_t seed, uint64_t number, const denoiser_plan& plan);

/// Draws the batch of a step but for its noise.
/// Threads: any.
denoiser_batch draw_denoiser_batch(uint64_t seed, uint64_t step,
                                   const denoiser_plan& plan);

} // namespace atelier::gpu
