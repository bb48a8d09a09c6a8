// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policy.hpp>

namespace atelier::planning {

/// Returns a policy's choice, unless a leg of its route may run on a variant
/// that cannot run the request (core::request::unable). Such a request takes
/// another route of the plan, from noise, on variants that can all run it: the
/// one with the largest share over all classes, or without shares the first
/// that a worker hosts, or else the first. If the plan has none, the result is
/// a refusal, after the plan's time to retry.
/// Threads: any.
choice choose_runnable(const policy& rules, const decision_context& by);

} // namespace atelier::planning
