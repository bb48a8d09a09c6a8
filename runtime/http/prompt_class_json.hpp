// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>

#include <nlohmann/json.hpp>

namespace atelier {

/// Writes a level as {"ladder": ..., "level": ..., "variant": ...}.
/// nlohmann::json finds this function.
template <class Json>
void to_json(Json& to, const ladder_level& x) {
  to = Json{{"ladder", x.ladder}, {"level", x.level}, {"variant", x.variant}};
}

/// Reads such a level. Throws what nlohmann::json throws.
template <class Json>
void from_json(const Json& from, ladder_level& x) {
  from.at("ladder").get_to(x.ladder);
  from.at("level").get_to(x.level);
  from.at("variant").get_to(x.variant);
}

namespace runtime::http {

/// Adds the class of an image's prompt to the description of the image, if the
/// class was requested.
template <class Json>
void add_prompt_class(Json& to, const generated_image& of) {
  if (!of.prompt_class.empty())
    to["prompt_class"] = of.prompt_class;
}

} // namespace runtime::http
} // namespace atelier
