// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <memory>

namespace atelier::runtime::http {

/// Adds the routes of the AUTOMATIC1111 web UI, below /sdapi/v1, and
/// /internal/progress: text to image, image to image, progress, interruption,
/// options, and the lists that front ends request at their start. A client that
/// disconnects cancels its job.
void add_a1111_routes(route_table& to, std::shared_ptr<jobs> all,
                      api_context with);

} // namespace atelier::runtime::http
