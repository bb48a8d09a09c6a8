// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/simulation/outcome.hpp>
#include <atelier/simulation/scenario.hpp>

#include <functional>

namespace atelier::runtime {

/// Runs the scheduler, planner, monitor, supervisor and worker actors over a
/// trace in virtual time, on this thread: devices take the profile's times,
/// what is near and how a picture scores is drawn by seed. Ends when every
/// request is answered.
/// @param progress told now and then of the requests that ended; false stops.
/// Errors: ec::invalid_argument for what validate finds; ec::cancelled;
///         ec::internal where requests are not answered at all.
core::result<outcome> simulate(
  const scenario& what, const std::function<bool(uint64_t)>& progress = {});

} // namespace atelier::runtime
