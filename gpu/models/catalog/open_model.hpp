// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace atelier::gpu {

/// Opens a folder in diffusers' layout or a single-file checkpoint
/// (.safetensors) of a known family. Weights are mapped, not read. A folder
/// with only a denoiser's config.json and weights, and a file that lacks parts,
/// need options.parts_from.
/// Errors: ec::not_found (no such path, a part is missing), ec::bad_payload
///         (a file is damaged or in another format), ec::invalid_argument (an
///         option); the text names the file and the key.
/// Threads: any.
core::result<model_files> open_model(const std::filesystem::path& from,
                                     const model_file_options& options);

/// Opens the existing parts, whether complete or not: in the result, `weights`
/// of the denoiser or the autoencoder may be null, and `scheduler` may be
/// empty.
/// Errors: as open_model, except for missing parts.
core::result<model_files> open_parts(const std::filesystem::path& from,
                                     const model_file_options& options);

/// Returns the names of the parts that `open_model` would report as missing,
/// such as "text_encoder".
std::vector<std::string> missing_parts(const model_files& x);

} // namespace atelier::gpu
