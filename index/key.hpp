// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/planning/profile.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace atelier::index {

/// Returns whether earlier work can serve a request: the request starts from no
/// image of its own and may read the cache.
bool is_searched_for(const core::request& wanted);

/// Returns whether a request's work may serve later ones: the request starts
/// from no image of its own, may write the cache, and is no probe, which draws
/// nothing.
bool is_remembered(const core::request& wanted);

/// Returns the bytes that must be equal for work of one run to serve another:
/// the recipe except for the seed, the negative prompt, the weights of the
/// prompt's words, and the tenant. They hold for one profile only, because a
/// recipe names its variant by number.
/// @param positive the prompt, of which only the weights of its parts, with the
///        number of words in each, and its chunks count: prompts are compared
///        by their words, which say nothing of weights
std::string key_of(const core::recipe& how, std::string_view negative,
                   core::tenant_id whose, std::string_view positive = {});

/// Returns the part of a key that holds its tenant; the whole key if it is
/// shorter.
std::string_view tenant_part(std::string_view key);

/// Returns the recipe in a key that key_of returned, with the seed 0; none if
/// the bytes are no such key.
std::optional<core::recipe> recipe_in(std::string_view key);

/// Returns the key under which a request looks for earlier work: the key of its
/// own whole run by the variant that draws from scratch.
/// @pre `known` says what may be reused
std::string key_for(const core::request& wanted,
                    const planning::profile& known);

} // namespace atelier::index
