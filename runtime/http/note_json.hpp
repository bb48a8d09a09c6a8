// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <nlohmann/json.hpp>

namespace atelier {

/// Writes a note as {"code": ..., "text": ...}. Found by nlohmann::json.
template <class Json>
void to_json(Json& to, const note& x) {
  to = Json{{"code", x.code}, {"text", x.text}};
}

/// Reads such a note; one that is a text alone, as they once were, has the code
/// "note". Throws what nlohmann::json throws.
template <class Json>
void from_json(const Json& from, note& x) {
  if (from.is_string()) {
    x = {"note", from.template get<std::string>()};
    return;
  }
  from.at("code").get_to(x.code);
  from.at("text").get_to(x.text);
}

} // namespace atelier
