// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace atelier::gpu::detail {

/// Size limits of files such as a part's config.json, and of an index of parts.
inline constexpr uint64_t most_config_bytes = uint64_t{1} << 20;
inline constexpr uint64_t most_index_bytes = uint64_t{4} << 20;
inline constexpr uint64_t most_vocabulary_bytes = uint64_t{64} << 20;

/// Reads a whole file.
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload (more than
///         `most_bytes`); the text names the file.
core::result<std::string> read_text(const std::filesystem::path& file,
                                    uint64_t most_bytes);

/// The maximum nesting of brackets in a file of a model.
inline constexpr size_t most_json_levels = 16;

/// Returns whether brackets nest deeper than that. Call it before building a
/// tree, whose nodes are many times larger than the text.
bool json_nests_too_deep(std::string_view text);

/// Parses text that Python's json module wrote, as an object of at most 16
/// levels: JSON plus the numbers NaN, Infinity and -Infinity, which become
/// strings of that name. A key that takes a number refuses such a string.
/// Errors: ec::bad_payload; the text names `where`.
core::result<nlohmann::json> parse_object(std::string_view text,
                                          std::string_view where);

/// Reads a file that holds a JSON object.
/// Errors: those of both.
core::result<nlohmann::json> read_object(
  const std::filesystem::path& file, uint64_t most_bytes = most_config_bytes);

/// Returns the text at `key`; empty if it is missing or not a text.
std::string text_at(const nlohmann::json& object, const char* key);

} // namespace atelier::gpu::detail
