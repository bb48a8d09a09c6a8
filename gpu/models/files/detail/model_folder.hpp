// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Opens a folder in diffusers' layout, or one with only a denoiser.
/// Errors: as open_parts.
core::result<model_files> open_model_folder(const std::filesystem::path& folder,
                                            const model_file_options& options);

/// Opens a network of diffusers: config.json and weights in one folder.
/// @param class_name the class that config.json must name; empty: any
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload.
core::result<component> open_diffusers_part(const std::filesystem::path& folder,
                                            std::string_view class_name,
                                            std::string_view variant);

/// Opens a folder's autoencoder, in the folder itself or in its vae/.
/// Errors: as open_diffusers_part.
core::result<component> open_vae_folder(const std::filesystem::path& folder,
                                        std::string_view variant);

/// Returns a tokenizer's files, or nothing if the folder has none.
/// Errors: ec::io_failed, ec::bad_payload.
core::result<std::optional<tokenizer_files>> find_tokenizer(
  const std::filesystem::path& folder);

} // namespace atelier::gpu::detail
