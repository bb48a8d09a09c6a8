// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/tensor_source.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// The library whose names a folder's weights have.
enum class weight_naming : uint8_t {
  /// diffusion_pytorch_model.*; an index is preferred to a single file.
  diffusers,
  /// model.*; a single file is preferred to an index.
  transformers,
};

/// The weights of one part, mapped.
struct opened_weights {
  std::shared_ptr<const tensor_source> tensors;
  std::vector<std::filesystem::path> files;
};

/// Opens the weights in `folder`: one file, or an index with its parts. Files
/// of the requested variant are preferred, then those without a variant, then
/// the only existing variant.
/// Errors: ec::not_found (no weights, a part is missing), ec::io_failed,
///         ec::bad_payload (only PyTorch files; a damaged file; an index that
///         does not match its parts or names a file elsewhere); the text names
///         the file and the key.
/// Source: diffusers 0.42 models/model_loading_utils.py (_fetch_index_file,
///         _fetch_index_file_legacy), utils/hub_utils.py (_add_variant).
core::result<opened_weights> open_weights(const std::filesystem::path& folder,
                                          weight_naming naming,
                                          std::string_view variant);

} // namespace atelier::gpu::detail
