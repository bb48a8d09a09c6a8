// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <nlohmann/json.hpp>

namespace atelier {

/// Writes {"kind": ..., "entry": ..., "similarity": ..., "steps": ...}.
/// nlohmann::json finds it by its name.
template <class Json>
void to_json(Json& to, const reuse& x) {
  to = Json{{"kind", x.kind},
            {"entry", x.entry},
            {"similarity", x.similarity},
            {"steps", x.steps}};
}

/// Reads what to_json writes. Throws what nlohmann::json throws.
template <class Json>
void from_json(const Json& from, reuse& x) {
  from.at("kind").get_to(x.kind);
  from.at("entry").get_to(x.entry);
  from.at("similarity").get_to(x.similarity);
  from.at("steps").get_to(x.steps);
}

namespace runtime::http {

/// Adds "reused", the earlier work that an image started from, if any.
template <class Json>
void add_reuse(Json& to, const generated_image& of) {
  if (of.reused)
    to["reused"] = *of.reused;
}

} // namespace runtime::http
} // namespace atelier
