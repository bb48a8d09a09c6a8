// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace atelier::gpu {

/// Parses an object that Python's json module wrote: JSON, and the words NaN,
/// Infinity and -Infinity, which come out as strings.
/// Errors: those of detail::parse_object.
core::result<nlohmann::json> parse_python_object(std::string_view text,
                                                 std::string_view where);

/// Returns a value as an error shows it: short, and without what lies inside
/// arrays and objects.
std::string shown(const nlohmann::json& value);

} // namespace atelier::gpu
