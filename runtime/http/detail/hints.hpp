// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string_view>

namespace atelier::runtime::http::detail {

/// A field with which clients of other servers influence how an image is made
/// and which has no counterpart here. The image is valid without it, so the
/// field is accepted, and each image of the call has a note about it. The table
/// is also in docs/http-api.md.
struct hint {
  /// "openai", "a1111", or "a1111 options" for the web UI's options and
  /// override_settings.
  std::string_view api;
  std::string_view field;
  /// The allowed values, as the documentation lists them.
  std::string_view values;
  /// The values without a note, because they request what is done anyway.
  std::string_view quiet;
  std::string_view note;
  bool (*takes)(const nlohmann::json&);
  bool (*is_quiet)(const nlohmann::json&);
};

/// Returns all hints, ordered by API.
/// Threads: any.
std::span<const hint> hints();

} // namespace atelier::runtime::http::detail
