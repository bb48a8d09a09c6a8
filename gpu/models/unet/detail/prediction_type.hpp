// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>

#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Finds what a single file's denoiser predicts: what the caller says, or the
/// file's metadata (modelspec.prediction_type, then modelspec.architecture), or
/// what diffusers takes. For SD 2.x that is "v_prediction", but "epsilon" where
/// the file notes the 875,000 training steps of the 512-pixel model.
/// `may_be_v`: whether the model is such an SD 2.x, not made for inpainting.
/// Errors: ec::invalid_argument (the caller's word), ec::bad_payload (the
///         file's, or a file that is no model); the text names the key.
/// Source: diffusers 0.42 loaders/single_file_utils.py,
///         _legacy_load_scheduler; github.com/Stability-AI/ModelSpec.
core::result<std::string> find_prediction_type(const safetensors_file& file,
                                               std::string_view wanted,
                                               bool may_be_v);

} // namespace atelier::gpu::detail
