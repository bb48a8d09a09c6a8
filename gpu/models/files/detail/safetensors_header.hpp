// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/tensor_source.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

/// The maximum number of axes of a stored tensor.
inline constexpr size_t most_axes = 8;

/// One tensor as a safetensors header describes it.
struct stored_tensor {
  tensor_type type = tensor_type::float32;
  std::vector<int64_t> shape;
  /// The range of its bytes in the data.
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct safetensors_header {
  std::map<std::string, stored_tensor, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

/// Parses the header of a safetensors file that is followed by `data_bytes`
/// bytes of data. Parsing is strict: no key is duplicate or unknown, and the
/// tensors follow each other without gaps, overlaps or trailing data. Memory
/// use is proportional to the header.
/// Errors: ec::bad_payload; the text names `where` and the key.
/// Source: github.com/huggingface/safetensors, safetensors/src/tensor.rs,
///         Metadata::validate.
core::result<safetensors_header> parse_safetensors_header(
  std::string_view text, uint64_t data_bytes, std::string_view where);

/// Returns the type named in a header, if it is supported.
std::optional<tensor_type> parse_tensor_type(std::string_view name);

/// Returns the bytes that a tensor takes; nothing if a side is negative or the
/// number does not fit.
std::optional<uint64_t> bytes_for(const std::vector<int64_t>& shape,
                                  tensor_type type);

} // namespace atelier::gpu::detail
