// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <memory>

namespace atelier::runtime::http {

/// Adds the routes of OpenAI's images: /v1/images/generations, edits and
/// variations, /v1/models, and /v1/images/{id}/content for addresses that
/// replies contain in place of images. A client that disconnects cancels its
/// job.
void add_openai_routes(route_table& to, std::shared_ptr<jobs> all,
                       api_context with);

} // namespace atelier::runtime::http
