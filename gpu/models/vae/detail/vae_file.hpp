// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Opens the autoencoder in a file: a whole checkpoint, or only an autoencoder
/// in either layout.
/// @param of the pipeline of its model, which determines its scale
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload.
core::result<component> open_vae_file(const std::filesystem::path& file,
                                      const model_pipeline& of);

/// Returns the prefix of the autoencoder's names in a whole checkpoint, or
/// nothing if it has no autoencoder.
std::optional<std::string_view> vae_prefix(
  const std::vector<std::string>& sorted_names);

/// Opens the autoencoder of a checkpoint in the original layout.
/// @param image_size pixels of a side that the model is for
/// Errors: ec::bad_payload.
core::result<component> open_original_vae(
  const std::shared_ptr<const safetensors_file>& file,
  const std::filesystem::path& path, std::string_view prefix,
  const model_pipeline& of, uint64_t image_size);

} // namespace atelier::gpu::detail
