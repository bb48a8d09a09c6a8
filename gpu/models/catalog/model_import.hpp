// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace atelier::gpu {

struct import_options {
  model_file_options open;
  /// The type of floating-point tensors to write; absent: unchanged.
  std::optional<tensor_type> as;
  /// Replace an existing model of that name.
  bool replace = false;
  /// Called with the bytes written so far and in total; false ends the import.
  std::function<bool(uint64_t done, uint64_t all)> proceed;
};

/// Writes a model as a folder in diffusers' layout. Its tensors are first
/// compared with its configurations. `to` appears complete or not at all;
/// missing parent folders are created.
/// Errors: those of open_model; ec::bad_payload (a tensor missing, extra or of
///         another shape); ec::invalid_argument (`to` is taken, `as` is not a
///         floating-point type or too narrow for the numbers);
///         ec::out_of_resources (the disk has too little room); ec::io_failed;
///         ec::cancelled. Nothing is left behind after an error.
/// Threads: any.
core::result<void> import_model(const std::filesystem::path& from,
                                const std::filesystem::path& to,
                                const import_options& options);

} // namespace atelier::gpu
