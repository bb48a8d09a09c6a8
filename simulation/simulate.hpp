// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/simulation/outcome.hpp>
#include <atelier/simulation/scenario.hpp>

#include <functional>

namespace atelier::runtime {

/// Runs the scheduler, planner, monitor, supervisor and worker actors over a
/// trace in virtual time, on this thread. Devices take the profile's times;
/// near work and the scores of images are drawn by seed. Ends when every
/// request is answered.
/// @param progress called from time to time with the number of ended requests;
///        false stops
/// Errors: ec::invalid_argument for what validate finds; ec::cancelled;
///         ec::internal if requests are never answered.
core::result<outcome> simulate(
  const scenario& what, const std::function<bool(uint64_t)>& progress = {});

} // namespace atelier::runtime
