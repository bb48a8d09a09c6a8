// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

namespace atelier::gpu {

/// Sets the prediction of the clean latent at a timestep whose share of signal
/// is `alpha`, as in DDIM and LCM. The rule's timestep and clamp are already
/// set.
/// Errors: ec::invalid_argument if no signal is left to divide by and no clamp
///         limits the quotient.
core::result<void> set_x0(step_rule& rule, prediction predicts, double alpha);

} // namespace atelier::gpu
