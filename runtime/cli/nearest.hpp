// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/edit_distance.hpp>

#include <span>
#include <string>
#include <string_view>

namespace atelier::runtime::cli {

using core::edit_distance;

/// Returns the entry of `known` that is nearest to `word`, the first of
/// several; empty where there are none.
std::string nearest(std::string_view word, std::span<const std::string> known);

/// Returns the same where it is at most two changes away; else empty.
std::string near(std::string_view word, std::span<const std::string> known);

} // namespace atelier::runtime::cli
