// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/plan.hpp>
#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/policies/atelier/unified_memory.hpp>

namespace atelier::planning::detail {

/// Rates below this, in requests per second, are noise.
inline constexpr double no_rate = 1e-6;

/// Writes into `next` the fraction of each class that takes each route, and
/// into `memory` which labels search, and the fractions for requests that did
/// not search. A class without requests takes the route with the highest value
/// at the prices of devices; a class that is refused as a whole takes the route
/// with the lowest cost.
/// `known_enough`: there were enough searches to plan by the distribution of
/// matches.
void write_shares(plan& next, const unified::offers& o,
                  const unified::decision& d, bool known_enough,
                  unified_memory& memory);

} // namespace atelier::planning::detail
