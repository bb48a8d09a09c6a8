// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/inferred_part.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Opens a folder of an autoencoder as open_diffusers_part does, and reads the
/// names that its attention had before diffusers 0.12.
/// Errors: as open_diffusers_part.
core::result<component> open_vae_part(const std::filesystem::path& folder,
                                      std::string_view class_name,
                                      std::string_view variant);

/// Opens a folder's autoencoder, in the folder itself or in its vae/.
/// Errors: as open_diffusers_part.
core::result<component> open_vae_folder(const std::filesystem::path& folder,
                                        std::string_view variant);

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

/// Returns the configuration of an AutoencoderKL with those tensors.
/// Errors: ec::bad_payload; the text names the file and the tensor.
core::result<json_object> infer_vae_config(const tensor_source& from,
                                           const vae_traits& traits);

/// Opens the autoencoder in a file: a whole checkpoint, or only an autoencoder
/// in either layout.
/// @param traits those of its model's pipeline
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload.
core::result<component> open_vae_file(const std::filesystem::path& file,
                                      const vae_traits& traits);

/// Returns the prefix of the autoencoder's names in a whole checkpoint, or
/// nothing if it has no autoencoder.
std::optional<std::string_view> vae_prefix(
  const std::vector<std::string>& sorted_names);

/// Opens the autoencoder of a checkpoint in the original layout.
/// Errors: ec::bad_payload.
core::result<component> open_original_vae(
  const std::shared_ptr<const safetensors_file>& file,
  const std::filesystem::path& path, std::string_view prefix,
  const vae_traits& traits);

} // namespace atelier::gpu::detail
