// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace atelier::gpu::detail {

/// Determines from its tensors' names whether a single file holds such a
/// denoiser.
bool is_single_unet(std::span<const std::string> names);

/// Opens the parts of a single-file checkpoint: the original layout of SD 1.x,
/// 2.x, SDXL and its refiner, or only a denoiser in that layout or in
/// diffusers'.
/// Errors: as open_parts.
/// Source: diffusers 0.42 loaders/single_file_utils.py.
core::result<model_files> open_single_file(
  std::shared_ptr<const safetensors_file> file,
  const std::filesystem::path& path, const model_file_options& options);

} // namespace atelier::gpu::detail
