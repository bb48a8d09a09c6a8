// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/tokenizer/detail/added_tokens.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Functions that the readers of a tokenizer's files share.
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

/// Reads an id.
/// Errors: ec::bad_payload if it is not an integer in 0..most_token_id
core::result<int32_t> parse_id(std::string_view file, std::string_view key,
                               const json& value);

/// The fields of an added token without its id. `normalized` is empty if the
/// file does not specify it.
struct added_token_fields {
  added_token token;
  std::optional<bool> normalized;
};

/// Reads the fields of an added token.
/// Errors: ec::bad_payload
core::result<added_token_fields> parse_added_token(std::string_view file,
                                                   std::string_view key,
                                                   const json& value);

} // namespace atelier::gpu::detail
