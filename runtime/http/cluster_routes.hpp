// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/health.hpp>
#include <atelier/runtime/http/jobs.hpp>
#include <atelier/runtime/http/metrics.hpp>
#include <atelier/runtime/http/recent_images.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <memory>

namespace atelier::runtime::http {

/// What the routes below show.
struct cluster_context {
  std::shared_ptr<image_service> images;
  std::shared_ptr<const health> condition;
  std::shared_ptr<const recent_images> recent;
  std::shared_ptr<metrics> counted;
  /// May be null.
  std::shared_ptr<const jobs> all;
};

/// Adds GET /v1/variants, GET /v1/cluster and GET /metrics; the last two
/// for admins, because they tell what all keys do together.
void add_cluster_routes(route_table& to, const cluster_context& with);

} // namespace atelier::runtime::http
