// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

namespace atelier::gpu {

/// Sets the prediction of the clean latent at a timestep whose share of signal
/// is `alpha`, as DDIM and LCM have it. The rule's timestep and clamp are set.
/// Errors: ec::invalid_argument where no signal is left to divide by, and no
///         clamp takes up what the division gives.
core::result<void> set_x0(step_rule& rule, prediction predicts, double alpha);

} // namespace atelier::gpu
