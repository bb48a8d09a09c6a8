// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/detail/document.hpp>
#include <atelier/config/schema.hpp>

namespace atelier::config::detail {

/// Writes the value `from` to `to` where it is what `x` demands; leaves `to`
/// alone and returns false where it is not.
bool assign(const option& x, const node& from, const place& to);

/// Says, for people, why `assign` does not take `from`.
std::string refusal_of(const option& x, const node& from);

} // namespace atelier::config::detail
