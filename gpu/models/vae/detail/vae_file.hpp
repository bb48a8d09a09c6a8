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

/// Opens the autoencoder in a file: of a whole checkpoint, or alone in either
/// layout. `of`: the pipeline of the model that it is for, which its scale
/// depends on. Errors: ec::not_found, ec::io_failed, ec::bad_payload.
core::result<component> open_vae_file(const std::filesystem::path& file,
                                      const model_pipeline& of);

/// Returns the prefix that a whole checkpoint gives the autoencoder's names;
/// none where it has no autoencoder.
std::optional<std::string_view> vae_prefix(
  const std::vector<std::string>& sorted_names);

/// Opens the autoencoder of a checkpoint in the original layout. `image_size`:
/// pixels of a side that the model is for.
/// Errors: ec::bad_payload.
core::result<component> open_original_vae(
  const std::shared_ptr<const safetensors_file>& file,
  const std::filesystem::path& path, std::string_view prefix,
  const model_pipeline& of, uint64_t image_size);

} // namespace atelier::gpu::detail
