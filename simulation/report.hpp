// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/simulation/outcome.hpp>

#include <span>
#include <string>

namespace atelier::runtime {

/// Returns an outcome as one line of JSON. Same scenario, same bytes, but for
/// `plan_ms`, `route_us` and `wall_s`.
std::string to_json(const outcome& x);

/// Returns outcomes side by side as a table for a terminal.
std::string to_table(std::span<const outcome> all);

/// Returns the series of all outcomes: a line for each policy and interval.
std::string to_csv(std::span<const outcome> all);

/// Returns a page that needs nothing else: the table, and plots of demand,
/// throughput, violations, quality where the profile knows it, workers by
/// variant and cache hits over time.
/// @param title what was simulated
std::string to_html(std::span<const outcome> all, const std::string& title);

} // namespace atelier::runtime
