// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/pipeline.hpp>
#include <atelier/simulation/knowledge.hpp>
#include <atelier/simulation/scenario.hpp>

#include <cstdint>
#include <memory>

namespace atelier::runtime {

/// Number of orders that a worker of a CPU pool holds at a time.
inline constexpr uint32_t pool_seats = 64;

/// Returns how many rows a scenario's devices run in one step.
uint32_t batch_of(const scenario& x);

/// Returns the slots of a scenario's arena.
planning::slot_counts slots_of(const scenario& x);

/// Returns the stages of a scenario's requests, including its own. The stages
/// before a route answer from `known`; null: they are not run.
/// Errors: those of pipeline::add; those of planning::check, if it has own
///         stages.
core::result<std::shared_ptr<const planning::pipeline>> stages_of(
  const scenario& x, const std::shared_ptr<simulated_knowledge>& known);

} // namespace atelier::runtime
