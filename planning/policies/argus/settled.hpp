// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/argus/allocation.hpp>
#include <atelier/planning/settling.hpp>

#include <span>

namespace atelier::planning::argus {

/// Distributes the load over workers with given levels so that quality is
/// maximal: max sum of Q f, sum of f = rate, f <= workers / t by level.
/// Errors: those of `allocate_counts`.
core::result<allocation> allocate_within(const ladder& levels, double rate,
                                         std::span<const uint32_t> workers);

/// Returns `found`, or the best allocation for the workers of each level in
/// `before`. These workers stay while they serve `least` requests per second,
/// until those of `found` are worth their loads; if they do not serve them,
/// `found` is taken at once. The load is distributed for `rate`, which includes
/// its headroom. Both are compared for `rate` and for rates two deviations
/// below and above it, and the smallest gain counts: a load that only chance
/// changed moves no worker. `deviation` is that of the measured rate, in
/// requests per second.
/// Errors: those of `allocate_within`.
core::result<allocation> allocate_settled(const ladder& levels, double rate,
                                          double least, const allocation& found,
                                          std::span<const uint32_t> before,
                                          settling& state, core::time_point now,
                                          double deviation);

} // namespace atelier::planning::argus
