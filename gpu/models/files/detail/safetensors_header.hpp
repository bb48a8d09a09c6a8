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

/// Most axes that a stored tensor may have.
inline constexpr size_t most_axes = 8;

/// One tensor as a safetensors header describes it.
struct stored_tensor {
  tensor_type type = tensor_type::float32;
  std::vector<int64_t> shape;
  /// Bytes of the data that it is.
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct safetensors_header {
  std::map<std::string, stored_tensor, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> metadata;
};

/// Reads the header of a safetensors file, which is followed by `data_bytes`
/// bytes of data. Strict: no key twice, none unknown, and the tensors lie
/// behind one another without holes, overlaps or a rest. Takes memory in
/// proportion to the header alone.
/// Errors: ec::bad_payload; the text names `where` and the key.
/// Source: github.com/huggingface/safetensors, safetensors/src/tensor.rs,
///         Metadata::validate.
core::result<safetensors_header> parse_safetensors_header(
  std::string_view text, uint64_t data_bytes, std::string_view where);

/// Returns the type that a header names, if it is supported.
std::optional<tensor_type> parse_tensor_type(std::string_view name);

/// Returns the bytes that a tensor takes; none where a side is negative or the
/// number does not fit.
std::optional<uint64_t> bytes_for(const std::vector<int64_t>& shape,
                                  tensor_type type);

} // namespace atelier::gpu::detail
