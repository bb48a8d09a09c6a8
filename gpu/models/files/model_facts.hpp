// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <cstdint>

namespace atelier::gpu {

/// What planning and the door must know of a model before it is loaded.
struct model_facts {
  /// The size of pictures that its denoiser was made for.
  core::extent native_px{512, 512};
  uint32_t latent_channels = 4;
  /// Pixels of a picture's side for each element of a latent's side.
  uint32_t latent_factor = 8;
  /// What its scheduler_config.json says.
  scheduler_config schedule;
  /// What its pipeline takes where nobody says otherwise.
  float guidance = 7.5f;
  uint32_t steps = 50;
  /// How it wants to be used.
  model_traits traits;
  /// Numbers that its denoiser, and all its networks together, consist of.
  uint64_t denoiser_parameters = 0;
  uint64_t parameters = 0;
};

/// Returns the size of images that a denoiser was made for. `factor`: pixels of
/// a side for each element of the latent's.
core::extent native_extent(const denoiser_facts& denoiser, uint32_t factor);

/// Returns what a model's family says of its denoiser.
/// Errors: those of family::facts; ec::internal where it threw.
core::result<denoiser_facts> facts_by_family(const model_files& model);

/// Reads the facts out of a model's configurations, and checks that they are
/// known and that the weights are of the shapes that they ask for.
/// Errors: ec::bad_config (file and key), ec::bad_payload (file and tensor).
/// Source:  the defaults of diffusers' pipelines (guidance 7.5; 5 for SDXL;
///          8.5 and 4 steps for LCM; 50 steps).
core::result<model_facts> facts_of(const model_files& model);

} // namespace atelier::gpu
