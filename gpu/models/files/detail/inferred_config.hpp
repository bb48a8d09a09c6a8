// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>

namespace atelier::gpu::detail {

// Configurations inferred from the shapes of tensors under diffusers' and
// transformers' names. Properties that no shape determines (heads, activations,
// factors) are those of the family's published models, as in diffusers.
//
// Errors of all functions: ec::bad_payload; the text names the file and the
// tensor.
// Source: diffusers 0.42 loaders/single_file_utils.py,
//         create_unet_diffusers_config_from_ldm and
//         create_vae_diffusers_config_from_ldm; the config.json of the models
//         that its DIFFUSERS_DEFAULT_PIPELINE_PATHS names.

using json_object = nlohmann::ordered_json;

struct unet_traits {
  /// A side of the latent.
  uint64_t sample_size = 64;
  bool upcast_attention = false;
};

/// Returns the configuration of a UNet2DConditionModel.
core::result<json_object> infer_unet_config(const tensor_source& from,
                                            const unet_traits& traits);

struct vae_traits {
  /// A side of the image.
  uint64_t sample_size = 512;
  double scaling_factor = 0.18215;
  /// Written only if true.
  bool force_upcast = false;
};

/// Returns the configuration of an AutoencoderKL.
core::result<json_object> infer_vae_config(const tensor_source& from,
                                           const vae_traits& traits);

enum class text_family : uint8_t {
  /// The encoder of OpenAI, with quick_gelu.
  clip,
  /// The encoder of OpenCLIP, with gelu.
  open_clip,
};

/// Returns the configuration of a CLIPTextModel, or of a
/// CLIPTextModelWithProjection if `from` has a projection.
core::result<json_object> infer_text_config(const tensor_source& from,
                                            text_family family);

/// Returns the pipeline for a UNet2DConditionModel of that configuration.
const model_pipeline& pipeline_of_unet(const nlohmann::json& config);

} // namespace atelier::gpu::detail
