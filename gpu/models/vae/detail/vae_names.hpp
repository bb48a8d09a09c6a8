// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/tensor_source.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Returns the tensors of an autoencoder in Stable Diffusion's original layout,
/// whose names begin with `prefix`, under the names of diffusers'
/// AutoencoderKL. The 1x1 convolutions of its attention become matrices. Adds
/// to `left_over` the names, with the prefix, that have no place there.
/// Source: the layout of github.com/CompVis/latent-diffusion,
///         ldm/modules/diffusionmodules/model.py; diffusers 0.42
///         loaders/single_file_utils.py, convert_ldm_vae_checkpoint.
std::shared_ptr<const tensor_source> name_original_vae(
  const std::shared_ptr<const tensor_source>& from, std::string_view prefix,
  std::vector<std::string>& left_over);

/// Returns an AutoencoderKL's attention under diffusers' current names, if the
/// file has the names used before 0.12 (query, key, value, proj_attn).
/// Source: diffusers 0.42 models/modeling_utils.py,
///         _convert_deprecated_attention_blocks.
std::shared_ptr<const tensor_source> rename_old_attention(
  std::shared_ptr<const tensor_source> from);

} // namespace atelier::gpu::detail
