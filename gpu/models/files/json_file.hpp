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

/// Most bytes of a part's config.json and its like, and of an index of parts.
inline constexpr uint64_t most_config_bytes = uint64_t{1} << 20;
inline constexpr uint64_t most_index_bytes = uint64_t{4} << 20;

/// Reads a whole file.
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload (more than
///         `most_bytes`); the text names the file.
core::result<std::string> read_text(const std::filesystem::path& file,
                                    uint64_t most_bytes);

/// Most levels of brackets within brackets in a file of a model.
inline constexpr size_t most_json_levels = 16;

/// Returns whether brackets nest deeper than that. To be asked before a tree is
/// built: its nodes are many times larger than the text.
bool json_nests_too_deep(std::string_view text);

/// Parses text as a JSON object of at most 16 levels.
/// Errors: ec::bad_payload; the text names `where`.
core::result<nlohmann::json> parse_object(std::string_view text,
                                          std::string_view where);

/// Reads a file that holds a JSON object.
/// Errors: those of both.
core::result<nlohmann::json> read_object(
  const std::filesystem::path& file, uint64_t most_bytes = most_config_bytes);

/// Returns the text at `key`; empty where there is none or it is no text.
std::string text_at(const nlohmann::json& object, const char* key);

} // namespace atelier::gpu::detail
