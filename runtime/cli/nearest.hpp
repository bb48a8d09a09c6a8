// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/edit_distance.hpp>

#include <span>
#include <string>
#include <string_view>

namespace atelier::runtime::cli {

using core::edit_distance;

/// Returns the entry of `known` that is nearest to `word`, the first one of
/// several; empty if `known` is empty.
std::string nearest(std::string_view word, std::span<const std::string> known);

/// Returns the same entry if it is at most two changes away, otherwise an empty
/// text.
std::string near(std::string_view word, std::span<const std::string> known);

} // namespace atelier::runtime::cli
