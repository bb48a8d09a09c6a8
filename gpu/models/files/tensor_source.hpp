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

/// One stored tensor, mapped: valid as long as its source.
/// Axis order: slowest first, as PyTorch writes shapes.
struct tensor_view {
  tensor_type type = tensor_type::float32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
  /// The bytes hold the transpose of the two axes of `shape`; false but for a
  /// matrix that another layout keeps the other way round.
  bool transposed = false;
};

/// Returns whether the bytes begin where a number of that type may.
bool is_aligned(const tensor_view& x);

/// Returns the number of elements.
uint64_t elements_of(const tensor_view& x);

/// The tensors of one network by the names that diffusers and transformers
/// give them, wherever they are stored.
/// Threads: any; a source does not change.
class tensor_source {
public:
  virtual ~tensor_source() = default;

  /// Returns the tensor of that name, if there is one.
  virtual std::optional<tensor_view> find(std::string_view name) const = 0;

  /// Returns all names, sorted.
  virtual std::vector<std::string> names() const = 0;

  /// Says that the bytes of a tensor are not needed for now. They can be read
  /// again, then more slowly.
  virtual void let_go(std::string_view) const {}

  /// Returns the file or folder, for messages.
  virtual std::string where() const = 0;
};

} // namespace atelier::gpu
