// SPDX-License-Identifier: Apache-2.0
#pragma once

// What policies may ask of requests, found in a simulated world: stages under
// the names, and at the hook, of those that a live engine has.

#include <atelier/planning/stage.hpp>
#include <atelier/simulation/knowledge.hpp>

#include <memory>
#include <vector>

namespace atelier::runtime {

/// Returns the stages before a route: classify, mask, search. An order is run
/// at once, and its outcome comes after the time that the stage says.
/// Errors, of search: ec::unavailable while the cache is lost, later than
///         anybody waits.
/// @param from what they answer from; as many threads as it
std::vector<planning::stage_ptr> fact_stages(
  const std::shared_ptr<simulated_knowledge>& from);

} // namespace atelier::runtime
