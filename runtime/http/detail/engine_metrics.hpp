// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/metrics.hpp>

#include <prometheus/metric_family.h>

#include <vector>

namespace atelier::runtime::http::detail {

/// Adds what the server counts itself.
void add_server_metrics(const server_counts& now,
                        std::vector<prometheus::MetricFamily>& to);

/// Adds what the snapshot says, and what the system says of this process.
void add_engine_metrics(const metrics_snapshot& now,
                        std::vector<prometheus::MetricFamily>& to);

} // namespace atelier::runtime::http::detail
