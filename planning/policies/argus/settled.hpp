// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/argus/allocation.hpp>
#include <atelier/planning/settling.hpp>

#include <span>

namespace atelier::planning::argus {

/// Spreads the load over workers whose levels are given, so that quality is the
/// most: max sum of Q f, sum of f = rate, f <= workers / t by level.
/// Errors: those of `allocate_counts`.
core::result<allocation> allocate_within(const ladder& levels, double rate,
                                         std::span<const uint32_t> workers);

/// Returns `found`, or the best for the workers of each level in `before`.
/// Those stay while they serve `least` requests a second, until those of
/// `found` are worth their loads; where they do not, `found` is taken at once.
/// Both are compared, and the load is spread, for `rate`, which has its
/// head-room. Errors: those of `allocate_within`.
core::result<allocation> allocate_settled(const ladder& levels, double rate,
                                          double least, const allocation& found,
                                          std::span<const uint32_t> before,
                                          settling& state,
                                          core::time_point now);

} // namespace atelier::planning::argus
