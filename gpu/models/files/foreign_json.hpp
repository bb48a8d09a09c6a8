// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>

/// Functions that the readers of other programs' JSON files share.
namespace atelier::gpu::detail {

using json = nlohmann::json;

/// Returns `text` in quotes, with unprintable characters escaped, and truncated
/// if it is long.
std::string in_quotes(std::string_view text);

/// Returns a value as JSON, truncated if it is long.
std::string shown(const json& value);

/// Builds ec::bad_payload with the text "FILE: KEY: WHAT", without "KEY: " if
/// the key is empty.
core::error bad_key(std::string_view file, std::string_view key,
                    std::string_view what);

/// Reads a whole file of at most 64 MiB.
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload (too large)
core::result<std::string> read_text(const std::filesystem::path& file);

/// Parses UTF-8 text by parse_object.
/// Errors: ec::bad_payload
core::result<json> parse_document(std::string_view file, std::string_view text);

/// Returns the member, or nullptr if it is missing or null.
const json* member(const json& object, std::string_view key);

} // namespace atelier::gpu::detail
