// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <memory>

namespace atelier::runtime::http {

/// Adds the routes of asynchronous jobs, below /v1/jobs: submit, view, list,
/// cancel, listen, fetch or cancel single images. Owners see their own jobs,
/// admins all.
void add_job_routes(route_table& to, std::shared_ptr<jobs> all,
                    api_context with);

} // namespace atelier::runtime::http
