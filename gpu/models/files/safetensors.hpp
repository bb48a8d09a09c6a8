// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/tensor_source.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu {

/// One safetensors file, mapped into memory. Its pages are read when a tensor
/// is, and are shared by all processes that map the file.
/// Invariants: (1) every view lies inside the mapping and has the bytes that
/// its shape and type require; (2) every byte belongs to exactly one tensor.
/// A view may begin at any address, since the format does not align data.
/// Readers of numbers copy them first if is_aligned returns false.
/// Threads: any; it does not change. A file that is truncated while it is
/// mapped ends the process that reads the missing part, as with any mapping;
/// `weights::take` finds that out beforehand.
class safetensors_file final : public tensor_source {
public:
  /// Errors: ec::not_found, ec::io_failed, ec::bad_payload; the text names the
  ///         file, and the key if one is at fault.
  /// Source:  the format's description in github.com/huggingface/safetensors,
  ///          README.md; its limit of 100 MB for the header.
  static core::result<std::shared_ptr<const safetensors_file>> open(
    const std::filesystem::path& file);

  ~safetensors_file() override;
  safetensors_file(const safetensors_file&) = delete;
  safetensors_file& operator=(const safetensors_file&) = delete;

  std::optional<tensor_view> find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  void let_go(std::string_view name) const override;
  std::string where() const override;

  /// Returns the writer's notes under "__metadata__".
  const std::map<std::string, std::string, std::less<>>& metadata() const {
    return metadata_;
  }

private:
  safetensors_file() = default;

  std::filesystem::path file_;
  void* mapping_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::map<std::string, tensor_view, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

/// One tensor to write.
struct named_tensor {
  std::string name;
  /// A transposed view is written in the order of its shape.
  tensor_view tensor;
  /// The type to write, if it is another floating-point type.
  std::optional<tensor_type> as = std::nullopt;
};

/// Called with the bytes of data written so far; false ends the writing.
using write_progress = std::function<bool(uint64_t bytes)>;

/// Writes a safetensors file completely or not at all, and syncs it to disk.
/// Data are converted piece by piece, and aligned to their type.
/// Errors: ec::io_failed; ec::invalid_argument (a name that is duplicate or not
///         UTF-8, bytes that do not fit the shape, a type that cannot be
///         converted); ec::cancelled if `proceed` returned false. No file is
///         left behind after an error.
core::result<void> write_safetensors(
  const std::filesystem::path& file, const std::vector<named_tensor>& tensors,
  const std::map<std::string, std::string, std::less<>>& metadata = {},
  const write_progress& proceed = {});

} // namespace atelier::gpu
