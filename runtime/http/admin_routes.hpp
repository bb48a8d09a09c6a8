// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/runtime/http/access.hpp>
#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/health.hpp>
#include <atelier/runtime/http/jobs.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <memory>

namespace atelier::runtime::http {

/// What the routes below show and steer.
struct admin_context {
  std::shared_ptr<image_service> images;
  std::shared_ptr<health> condition;
  std::shared_ptr<const jobs> all;
  config::settings settings;
  /// Clocks, and the thread for work that waits.
  api_context calls = {};
  /// The keys of the server; null: none are known.
  std::shared_ptr<const access> callers = nullptr;
};

/// Adds the routes under /v1/admin, for admins alone: what the server is made
/// of, draining it, and the level of its log.
void add_admin_routes(route_table& to, admin_context with);

} // namespace atelier::runtime::http
