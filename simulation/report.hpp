// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/simulation/outcome.hpp>

#include <span>
#include <string>

namespace atelier::runtime {

/// Returns an outcome as one line of JSON. The same scenario gives the same
/// bytes, except for `plan_ms`, `route_us` and `wall_s`.
std::string to_json(const outcome& x);

/// Returns outcomes side by side as a table for a terminal.
std::string to_table(std::span<const outcome> all);

/// Returns the series of all outcomes: a line for each policy and interval.
std::string to_csv(std::span<const outcome> all);

/// Returns a self-contained page: the table, and plots over time of demand,
/// throughput, violations, quality if the profile states it, workers by variant
/// and cache hits.
/// @param title what was simulated
std::string to_html(std::span<const outcome> all, const std::string& title);

} // namespace atelier::runtime
