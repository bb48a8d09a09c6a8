// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/model_files.hpp>

#include <filesystem>

namespace atelier::gpu::detail {

/// Opens a single-file checkpoint: the original layout of SD 1.x, 2.x, SDXL and
/// its refiner, or a denoiser alone in that layout or in diffusers'.
/// Errors: as open_parts.
/// Source: diffusers 0.42 loaders/single_file_utils.py.
core::result<model_files> open_single_file(const std::filesystem::path& file,
                                           const model_file_options& options);

/// Opens the autoencoder in a file: of a whole checkpoint, or alone in either
/// layout. `kind`: of the model that it is for, which its scale depends on.
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload.
core::result<component> open_vae_file(const std::filesystem::path& file,
                                      pipeline_kind kind);

} // namespace atelier::gpu::detail
