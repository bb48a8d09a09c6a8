// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/inferred_part.hpp>
#include <atelier/gpu/models/files/tensor_source.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// Returns the tensors of a text encoder written by transformers, whose names
/// begin with `prefix`, without that prefix and with "text_model.", which some
/// files leave out. Adds to `left_over` the names, with the prefix, that belong
/// to no text encoder.
/// Source: diffusers 0.42 loaders/single_file_utils.py,
///         convert_ldm_clip_checkpoint.
std::shared_ptr<const tensor_source> name_clip_text(
  const std::shared_ptr<const tensor_source>& from, std::string_view prefix,
  std::vector<std::string>& left_over);

/// Returns the tensors of a text encoder in OpenCLIP's layout under
/// transformers' names: the joint query, key and value projections as three row
/// slices, the text projection as a transpose. If `without_layer` is set, that
/// layer and all later ones are left out, and so is the projection.
/// Source: the layout of github.com/mlfoundations/open_clip,
///         src/open_clip/transformer.py; diffusers 0.42
///         loaders/single_file_utils.py, convert_open_clip_checkpoint and
///         SD_2_TEXT_ENCODER_KEYS_TO_IGNORE.
std::shared_ptr<const tensor_source> name_open_clip_text(
  const std::shared_ptr<const tensor_source>& from, std::string_view prefix,
  std::optional<size_t> without_layer, std::vector<std::string>& left_over);

/// Who published a text encoder, which no shape says.
enum class text_family : uint8_t {
  /// The encoder of OpenAI, with quick_gelu.
  clip,
  /// The encoder of OpenCLIP, with gelu.
  open_clip,
};

/// Returns the configuration of a CLIPTextModel, or of a
/// CLIPTextModelWithProjection if `from` has a projection.
/// Errors: ec::bad_payload; the text names the file and the tensor.
core::result<json_object> infer_text_config(const tensor_source& from,
                                            text_family family);

} // namespace atelier::gpu::detail
