// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// Returns what /openapi.json says of each parameter, by its names in JSON.
nlohmann::ordered_json parameter_schemas();

/// Returns what it says of those that the web UI's calls have, by their names
/// there.
nlohmann::ordered_json webui_schemas();

/// Returns the page with what it has of the parameters' table: the options of
/// "<!--samplers-->", and in place of "<!--parameters-->" an input for each
/// that has none of its own.
std::string with_parameters(std::string_view page);

} // namespace atelier::runtime::http::detail
