// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>

#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// The prediction of a single file's denoiser.
struct told_prediction {
  /// "epsilon", "v_prediction" or "sample".
  std::string type;
  /// Whether it was trained down to no signal, with rescaled betas.
  bool zero_snr = false;
  /// Whether the caller or the file says so; otherwise it is a default.
  bool told = false;
};

/// Returns whether a tensor holds no weights but marks a denoiser's prediction:
/// v_pred, ztsnr and those of edm_vpred.
bool marks_prediction(std::string_view tensor);

/// Returns the prediction of a single file's denoiser: the caller's choice, or
/// the file's empty tensors v_pred and ztsnr, or its metadata
/// (modelspec.prediction_type, modelspec.predict_key, then
/// modelspec.architecture), or the default of diffusers. For SD 2.x the default
/// is "v_prediction", or "epsilon" if the file notes the 875,000 training steps
/// of the 512-pixel model.
/// @param may_be_v whether the model is such an SD 2.x, not made for inpainting
/// Errors: ec::invalid_argument (the caller's choice), ec::bad_payload (the
///         file's, or a file that is not a model); the text names the key.
/// Source: diffusers 0.42 loaders/single_file_utils.py,
///         _legacy_load_scheduler; github.com/Stability-AI/ModelSpec;
///         github.com/comfyanonymous/ComfyUI, comfy/supported_models.py
///         and comfy_extras/nodes_model_merging.py (save_checkpoint).
core::result<told_prediction> find_prediction_type(const safetensors_file& file,
                                                   std::string_view wanted,
                                                   bool may_be_v);

} // namespace atelier::gpu::detail
