// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace atelier::core {

/// Where a figure is shown. Each place but the first adds to `metrics`, if the
/// row has a metric; the last two add to `json`.
enum class figure_place : uint8_t {
  /// GET /metrics.
  metrics,
  /// GET /v1/cluster and the page; groups of a cache: GET /v1/admin/caches.
  json,
  /// A member of GET /health, for callers with a key.
  health,
  /// A member of `counts` in GET /health, for callers with a key, and a line of
  /// `atelier status`.
  status,
};

/// A figure of the engine's status: one row of a table. docs/metrics.md and
/// every place that shows figures walk the tables. Each row is constant.
struct figure {
  /// Its name in JSON and in engine_status::figures; empty: only /metrics shows
  /// it.
  std::string_view name;
  /// The JSON object that has it; also its section in docs/metrics.md.
  std::string_view group;
  /// Its name in /metrics, which ends in "_total" if it only rises; empty: only
  /// JSON shows it. Rows with the same metric differ by their label,
  /// "name=value"; the first one has the help text.
  std::string_view metric;
  std::string_view help;
  figure_place shown = figure_place::metrics;
  std::string_view label = {};
};

/// A figure that a struct of counts has as a member.
template <class Counts>
struct counted_figure {
  figure is;
  uint64_t Counts::*count = nullptr;
};

} // namespace atelier::core
