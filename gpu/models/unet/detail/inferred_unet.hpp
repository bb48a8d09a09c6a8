// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/files/inferred_part.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>

namespace atelier::gpu::detail {

/// What the shapes of a denoiser do not say.
struct unet_traits {
  /// A side of the latent.
  uint64_t sample_size = 64;
  bool upcast_attention = false;
};

/// Returns the configuration of a UNet2DConditionModel with those tensors.
/// Errors: ec::bad_payload; the text names the file and the tensor.
core::result<json_object> infer_unet_config(const tensor_source& from,
                                            const unet_traits& traits);

/// Returns the pipeline for a UNet2DConditionModel of that configuration.
const model_pipeline& pipeline_of_unet(const nlohmann::json& config);

} // namespace atelier::gpu::detail
