// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>

namespace atelier::gpu::detail {

// Configurations told from the shapes of tensors under diffusers' and
// transformers' names. What no shape says (heads, activations, factors) is what
// the published models of the family have, as in diffusers.
//
// Errors of all: ec::bad_payload; the text names the file and the tensor.
// Source: diffusers 0.42 loaders/single_file_utils.py,
//         create_unet_diffusers_config_from_ldm and
//         create_vae_diffusers_config_from_ldm; the config.json of the models
//         that its DIFFUSERS_DEFAULT_PIPELINE_PATHS names.

using json_object = nlohmann::ordered_json;

struct unet_traits {
  /// Of a side of the latent.
  uint64_t sample_size = 64;
  bool upcast_attention = false;
};

/// Returns UNet2DConditionModel's.
core::result<json_object> infer_unet_config(const tensor_source& from,
                                            const unet_traits& traits);

struct vae_traits {
  /// Of a side of the picture.
  uint64_t sample_size = 512;
  double scaling_factor = 0.18215;
  /// Written where it is true alone.
  bool force_upcast = false;
};

/// Returns AutoencoderKL's.
core::result<json_object> infer_vae_config(const tensor_source& from,
                                           const vae_traits& traits);

enum class text_family : uint8_t {
  /// OpenAI's: quick_gelu.
  clip,
  /// OpenCLIP's: gelu.
  open_clip,
};

/// Returns that of CLIPTextModel, or of CLIPTextModelWithProjection where
/// `from` has a projection.
core::result<json_object> infer_text_config(const tensor_source& from,
                                            text_family family);

/// Returns the pipeline that a UNet2DConditionModel of that configuration is
/// for.
const model_pipeline& pipeline_of_unet(const nlohmann::json& config);

} // namespace atelier::gpu::detail
