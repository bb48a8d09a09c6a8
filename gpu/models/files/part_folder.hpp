// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Returns whether a file or folder exists.
bool is_there(const std::filesystem::path& x);

/// Reads a small file; returns nothing if it is missing.
/// Errors: those of read_text.
core::result<std::optional<std::string>> read_if_there(
  const std::filesystem::path& file);

/// Opens a network of diffusers: config.json and weights in one folder.
/// @param class_name the class that config.json must name; empty: any
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload.
core::result<component> open_diffusers_part(const std::filesystem::path& folder,
                                            std::string_view class_name,
                                            std::string_view variant);

/// Opens a network that transformers wrote. Only model_index.json names its
/// class.
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload.
core::result<component> open_transformers_part(
  const std::filesystem::path& folder, std::string class_name,
  std::string_view variant);

/// Returns a tokenizer's files, or nothing if the folder has none.
/// Errors: ec::io_failed, ec::bad_payload.
core::result<std::optional<tokenizer_files>> find_tokenizer(
  const std::filesystem::path& folder);

} // namespace atelier::gpu::detail
