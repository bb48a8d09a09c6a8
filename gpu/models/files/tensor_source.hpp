// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Names the element type of a stored tensor.
enum class tensor_type : uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
};

std::string_view to_string(tensor_type x);

/// Returns the bytes of one element of type `x`.
size_t bytes_of(tensor_type x);

/// Returns whether `x` is one of the floating-point types.
bool is_floating(tensor_type x);

/// One stored tensor, mapped; valid as long as its source. Axis order: slowest
/// first, as PyTorch writes shapes.
struct tensor_view {
  tensor_type type = tensor_type::float32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
  /// Whether the bytes hold the transpose of the two axes of `shape`. It is
  /// true only for a matrix that another layout stores transposed.
  bool transposed = false;
};

/// Returns whether the bytes are aligned for numbers of their type.
bool is_aligned(const tensor_view& x);

/// Returns the number of elements.
uint64_t elements_of(const tensor_view& x);

/// The tensors of one network by their names in diffusers and transformers,
/// independent of their storage.
/// Threads: any; a source does not change.
class tensor_source {
public:
  virtual ~tensor_source() = default;

  /// Returns the tensor of that name, if it exists.
  virtual std::optional<tensor_view> find(std::string_view name) const = 0;

  /// Returns all names, sorted.
  virtual std::vector<std::string> names() const = 0;

  /// Allows the memory of a tensor to be freed that is not needed for now. Its
  /// bytes can be read again, but more slowly.
  virtual void let_go(std::string_view) const {}

  /// Returns the file or folder, for messages.
  virtual std::string where() const = 0;
};

} // namespace atelier::gpu
