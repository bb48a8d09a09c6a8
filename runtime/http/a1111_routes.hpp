// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <memory>

namespace atelier::runtime::http {

/// Adds the routes of the AUTOMATIC1111 web UI, below /sdapi/v1, and
/// /internal/progress: text and image to picture, progress, interruption,
/// options, what front ends list at their start. A client that goes away takes
/// its job back.
void add_a1111_routes(route_table& to, std::shared_ptr<jobs> all,
                      api_context with);

} // namespace atelier::runtime::http
