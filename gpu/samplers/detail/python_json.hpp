// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace atelier::gpu {

/// Parses what Python's json module writes: JSON, and the words NaN, Infinity
/// and -Infinity, which come out as strings. Returns a discarded value for
/// anything else.
nlohmann::json parse_python_json(std::string_view text);

/// Returns a value as an error shows it: short, and without what lies inside
/// arrays and objects.
std::string shown(const nlohmann::json& value);

} // namespace atelier::gpu
