// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stages that find facts and earlier work in a simulated world. They have the
// names and hooks of the live engine's stages.

#include <atelier/actors/stages/standard.hpp>
#include <atelier/simulation/knowledge.hpp>

#include <memory>

namespace atelier::runtime {

/// Returns the parts of the list that differ in simulations: classify, mask,
/// search, fetch. An order is run at once, and its outcome arrives after the
/// time that the stage predicts.
/// Errors, of search: ec::unavailable while the cache is lost, later than any
///         request waits.
/// @param from source of the answers; the stages are as thread-safe as it is
actors::standard_stages fact_stages(
  const std::shared_ptr<simulated_knowledge>& from);

} // namespace atelier::runtime
