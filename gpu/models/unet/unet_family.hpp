// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/family.hpp>

namespace atelier::gpu {

// The pipelines of models whose denoiser is diffusers' UNet2DConditionModel.

/// One text encoder: SD 1.x, 2.x and the distilled ones.
extern const model_pipeline stable_diffusion;
/// Two text encoders and micro-conditioning; the second encoder may be the only
/// one.
extern const model_pipeline stable_diffusion_xl;
/// Only the second text encoder, and an aesthetic score.
extern const model_pipeline stable_diffusion_xl_refiner;
/// One text encoder, and guidance as an embedding.
extern const model_pipeline latent_consistency;

/// Returns whether the pipeline is SDXL or its refiner.
bool has_size_vectors(const model_pipeline& x);

/// Whether an empty negative prompt is embedded as zeros (SDXL base).
inline constexpr std::string_view zeros_for_empty_setting =
  "force_zeros_for_empty_prompt";
/// Whether the refiner uses an aesthetic score instead of the target size.
inline constexpr std::string_view aesthetic_score_setting =
  "requires_aesthetics_score";

extern const family unet_family;

} // namespace atelier::gpu
