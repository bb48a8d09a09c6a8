// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/plan.hpp>
#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/policies/atelier/unified_memory.hpp>

namespace atelier::planning::detail {

/// Requests a second below this are noise.
inline constexpr double no_rate = 1e-6;

/// Writes into `next` the part of each class that takes each route, and into
/// `memory` which labels search, and what those take that did not. Of a class
/// that nobody asks for the route is the one that is worth the most at the
/// prices of devices; of one that is refused whole the one that costs least.
/// `known_enough`: what is near has been searched for often enough to plan by.
void write_shares(plan& next, const unified::offers& o,
                  const unified::decision& d, bool known_enough,
                  unified_memory& memory);

} // namespace atelier::planning::detail
