// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stages that find facts in a simulated world for policies that ask about
// requests. They have the names and the hook of the live engine's stages.

#include <atelier/planning/stage.hpp>
#include <atelier/simulation/knowledge.hpp>

#include <memory>
#include <vector>

namespace atelier::runtime {

/// Returns the stages before a route: classify, mask, search. An order is run
/// at once, and its outcome arrives after the time that the stage predicts.
/// Errors, of search: ec::unavailable while the cache is lost, later than any
///         request waits.
/// @param from source of the answers; the stages are as thread-safe as it is
std::vector<planning::stage_ptr> fact_stages(
  const std::shared_ptr<simulated_knowledge>& from);

} // namespace atelier::runtime
