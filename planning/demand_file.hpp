// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/cluster.hpp>

#include <string_view>

namespace atelier::planning {

/// Returns a demand of one rate, in finished windows.
/// @pre qps >= 0
demand demand_of_rate(double qps);

/// Reads {"format": "atelier.demand", "version": 1, "windows": [...]}, the
/// oldest window first; docs/demand-file.md explains each field.
/// Errors: ec::bad_payload with every fault at once, a line each: `where`, the
/// place in the document, the value and the allowed values.
core::result<demand> parse_demand(std::string_view json,
                                  std::string_view where);

} // namespace atelier::planning
