// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/reuse/thresholds.hpp>

#include <cstdint>

namespace atelier::planning {

/// The number of steps of the run to which the skips of a table refer.
inline constexpr uint32_t table_steps = 50;

/// Returns the table for runs of `steps`: floor(K steps / 50). Skips that
/// become 0 are dropped; among equal skips, the lowest threshold stays.
skip_table scaled_to(const skip_table& table, uint32_t steps);

} // namespace atelier::planning
