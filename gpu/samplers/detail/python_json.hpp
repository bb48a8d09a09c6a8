// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace atelier::gpu {

/// Parses an object written by Python's json module: JSON plus the words NaN,
/// Infinity and -Infinity, which become strings.
/// Errors: those of detail::parse_object.
core::result<nlohmann::json> parse_python_object(std::string_view text,
                                                 std::string_view where);

/// Returns a value as shown in an error: short, and without the contents of
/// arrays and objects.
std::string shown(const nlohmann::json& value);

} // namespace atelier::gpu
