// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/metrics.hpp>
#include <atelier/runtime/http/route_table.hpp>
#include <atelier/runtime/http/status_board.hpp>

#include <functional>
#include <memory>

namespace atelier::runtime::http {

/// What the routes below show.
struct cluster_context {
  std::shared_ptr<picture_service> pictures;
  std::shared_ptr<status_board> board;
  std::shared_ptr<metrics> counted;
  /// Null until the server runs.
  std::function<server_counts()> http;
  std::function<uint64_t()> open_jobs;
};

/// Adds GET /v1/variants, GET /v1/cluster (admins) and GET /metrics.
void add_cluster_routes(route_table& to, const cluster_context& with);

} // namespace atelier::runtime::http
