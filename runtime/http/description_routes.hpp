// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/route_table.hpp>

#include <string_view>

namespace atelier::runtime::http {

/// Returns the file openapi.json, which is part of the program: every route of
/// the server in OpenAPI 3.1.
std::string_view openapi_text();

/// Adds GET /openapi.json, the description with the program's version, and GET
/// /v1, its endpoints in short. Neither needs a key.
void add_description_routes(route_table& to);

} // namespace atelier::runtime::http
