// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/samplers/detail/planners.hpp>
#include <atelier/gpu/samplers/detail/sigma_curve.hpp>

#include <vector>

namespace atelier::gpu {

/// Where both Euler samplers step: one timestep for each step of the whole
/// schedule, and sigmas with at least one more, where the last step ends.
struct euler_schedule {
  std::vector<double> timesteps;
  std::vector<double> sigmas;
};

/// Returns the timesteps of diffusers' Euler schedulers, before Karras' sigmas
/// move them.
std::vector<double> euler_timesteps(const planning& from);

/// Fills timesteps, input scales and levels; the rules of x0 and next are each
/// sampler's own.
sampler_plan start_euler_plan(const planning& from, const euler_schedule& at);

} // namespace atelier::gpu
