// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <cstdint>

namespace atelier::gpu {

/// The facts of a model that planning and the APIs need before it is loaded.
struct model_facts {
  /// The image size that its denoiser was made for.
  core::extent native_px{512, 512};
  uint32_t latent_channels = 4;
  /// Pixels of an image's side per element of a latent's side.
  uint32_t latent_factor = 8;
  /// The contents of its scheduler_config.json.
  scheduler_config schedule;
  /// The defaults of its pipeline.
  float guidance = 7.5f;
  uint32_t steps = 50;
  core::share_steps lcm_steps = core::share_steps::cut;
  /// Its autoencoder encodes an image to a distribution.
  bool samples_source = true;
  /// Its recommended use.
  model_traits traits;
  /// The layers that each of its CLIP text encoders has at least, so the most
  /// that a request's clip_skip may be; 0: it has none.
  uint32_t text_layers = 0;
  /// Guidance is an input of the denoiser, so that a guided row needs no second
  /// prediction.
  bool embeds_guidance = false;
  /// The number of parameters in its denoiser, and in all networks together.
  uint64_t denoiser_parameters = 0;
  uint64_t parameters = 0;
};

/// Reads the facts from a model's configurations, and checks that these are
/// supported and that the weights have the required shapes.
/// Errors: ec::bad_config (file and key), ec::bad_payload (file and tensor).
/// Source:  the defaults of diffusers' pipelines (guidance 7.5; 5 for SDXL;
///          8.5 and 4 steps for LCM; 50 steps).
core::result<model_facts> facts_of(const model_files& model);

} // namespace atelier::gpu
