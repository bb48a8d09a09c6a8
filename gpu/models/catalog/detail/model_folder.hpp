// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <filesystem>

namespace atelier::gpu::detail {

/// Opens a folder in diffusers' layout, or one with only a denoiser.
/// Errors: as open_parts.
core::result<model_files> open_model_folder(const std::filesystem::path& folder,
                                            const model_file_options& options);

} // namespace atelier::gpu::detail
