// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string_view>

namespace atelier::runtime::http::detail {

/// A field by which clients of other servers say how an image should come
/// about, which has no counterpart here. The image is sound without it, so it
/// is taken, and each image of the call says so in its notes. The table stands
/// in docs/http-api.md too.
struct hint {
  /// "openai", "a1111", or "a1111 options" for the web UI's options and
  /// override_settings.
  std::string_view api;
  std::string_view field;
  /// What it can be, as the documentation says it.
  std::string_view values;
  /// Where nothing is noted, because it asks for what is done anyway.
  std::string_view quiet;
  std::string_view note;
  bool (*takes)(const nlohmann::json&);
  bool (*is_quiet)(const nlohmann::json&);
};

/// All of them, by API.
/// Threads: any.
std::span<const hint> hints();

} // namespace atelier::runtime::http::detail
