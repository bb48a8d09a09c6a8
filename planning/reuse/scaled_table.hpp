// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/reuse/thresholds.hpp>

#include <cstdint>

namespace atelier::planning {

/// The number of steps of the run to which the skips of a published table
/// refer. Those of a profile refer to its `reuse.steps`.
inline constexpr uint32_t table_steps = 50;

/// Returns the steps that a run of `steps` skips where a run of `of` skips
/// `skip`: floor(skip steps / of), and never all of them.
uint32_t scaled_skip(uint32_t skip, uint32_t of, uint32_t steps);

/// Returns a table whose skips refer to runs of `of` steps, for runs of
/// `steps`. Skips that become 0 are dropped; among equal skips, the lowest
/// threshold stays.
skip_table scaled_to(const skip_table& table, uint32_t of, uint32_t steps);

} // namespace atelier::planning
