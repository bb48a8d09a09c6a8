// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/pipeline.hpp>
#include <atelier/simulation/knowledge.hpp>
#include <atelier/simulation/scenario.hpp>

#include <cstdint>
#include <memory>

namespace atelier::runtime {

/// Orders that a worker of a CPU pool is given at a time.
inline constexpr uint32_t pool_seats = 64;

/// Returns how many rows a scenario's devices run in one step.
uint32_t batch_of(const scenario& x);

/// Returns the slots that a scenario's arena has.
planning::slot_counts slots_of(const scenario& x);

/// Returns the stages that a scenario's requests go through, its own among
/// them. What those before a route find is `known`; null: they are not run.
/// Errors: those of pipeline::add; of planning::check, where it has some.
core::result<std::shared_ptr<const planning::pipeline>> stages_of(
  const scenario& x, const std::shared_ptr<simulated_knowledge>& known);

} // namespace atelier::runtime
