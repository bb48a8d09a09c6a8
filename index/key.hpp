// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/planning/profile.hpp>

#include <string>
#include <string_view>

namespace atelier::index {

/// Returns whether a request's work is remembered, and searched for: it starts
/// from no image of its own, and is no probe.
bool is_remembered(const core::request& wanted);

/// Returns the bytes that must be equal for work of one run to serve another:
/// how it runs, but for the seed; the negative prompt; the tenant. Of one
/// profile alone, as a recipe names its variant by number.
std::string key_of(const core::recipe& how, std::string_view negative,
                   core::tenant_id whose);

/// Returns the key under which a request looks for earlier work: that of its
/// own whole run by the variant that draws from scratch.
/// @pre `known` says what may be reused
std::string key_for(const core::request& wanted,
                    const planning::profile& known);

} // namespace atelier::index
