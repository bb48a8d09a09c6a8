// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/training/scene.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Parameters of a denoiser's batches.
struct denoiser_plan {
  uint32_t batch = 32;
  /// Number of scenes with latents before the first step, number that each step
  /// adds, and maximum number.
  uint64_t first_scenes = 4096;
  uint32_t scenes_a_step = 4;
  uint64_t most_scenes = 262'144;
  /// Number of batches that may be drawn ahead. A scene is used this many steps
  /// after it was added.
  uint64_t lag = 64;
  /// Share of captions that are left out, for guidance.
  double uncaptioned = 0.1;
  /// Share of timesteps drawn as 1000 u^exponent, with u uniform in 0..1. They
  /// are dense where the input is mostly noise, because places are decided
  /// there. The other timesteps are uniform.
  double dense = 0.75;
  double exponent = 0.35;
  /// Number of first steps that see only scenes of one object, with all
  /// timesteps drawn densely. With mixed scenes from the start, words of place
  /// had no effect after 120,000 samples. After 20,000 samples of single
  /// objects, such a word raised the loss by 16 %.
  uint64_t single_steps = 4000;
  /// The numbers of scenes with one and with two objects among ten. The others
  /// have three.
  uint32_t single_of_ten = 5;
  uint32_t double_of_ten = 3;
};

/// Returns the number of scenes whose latents the batch of a step may use.
uint64_t scenes_at(const denoiser_plan& plan, uint64_t step);

/// Returns the number of groups of `scenes_a_step` needed at a step, the first
/// scenes included. Each step adds one group, up to the maximum.
uint64_t groups_at(const denoiser_plan& plan, uint64_t step);

/// Draws scene `number` of the training split.
scene latent_scene(uint64_t seed, uint64_t number, const denoiser_plan& plan);

/// Names what kept latents are made of: the seed, the autoencoder (by a digest
/// of its weights), and how the numbered scenes are drawn at present. Latents
/// of another maker show other scenes than those that captions are drawn of.
std::string latents_maker(uint64_t seed, const denoiser_plan& plan,
                          std::string_view autoencoder);

/// The data of one step.
struct denoiser_batch {
  /// Numbers of the scenes.
  std::vector<uint64_t> scenes;
  /// [batch, family_tokens].
  std::vector<int64_t> ids;
  /// Whole numbers in 0..999.
  std::vector<int64_t> timesteps;
};

/// Returns the number of objects in scene `number`.
uint32_t objects_in(uint64_t seed, uint64_t number, const denoiser_plan& plan);

/// Draws the batch of a step, without its noise.
/// Threads: any.
denoiser_batch draw_denoiser_batch(uint64_t seed, uint64_t step,
                                   const denoiser_plan& plan);

} // namespace atelier::gpu
