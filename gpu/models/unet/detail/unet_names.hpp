// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/tensor_source.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Returns the tensors of a denoiser in Stable Diffusion's original layout,
/// whose names begin with `prefix`, under the names of diffusers'
/// UNet2DConditionModel. Adds to `left_over` the names, with the prefix, that
/// have no place there.
/// Source: the layout of github.com/CompVis/latent-diffusion,
///         ldm/modules/diffusionmodules/openaimodel.py; diffusers 0.42
///         loaders/single_file_utils.py, convert_ldm_unet_checkpoint.
std::shared_ptr<const tensor_source> name_original_unet(
  const std::shared_ptr<const tensor_source>& from, std::string_view prefix,
  std::vector<std::string>& left_over);

} // namespace atelier::gpu::detail
