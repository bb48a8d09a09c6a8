// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/samplers/detail/planners.hpp>
#include <atelier/gpu/samplers/detail/sigma_curve.hpp>

#include <vector>

namespace atelier::gpu {

/// The grid of both Euler samplers: one timestep for each step of the whole
/// schedule, and sigmas with at least one more, at which the last step ends.
struct euler_schedule {
  std::vector<double> timesteps;
  std::vector<double> sigmas;
};

/// Returns the timesteps of diffusers' Euler schedulers, before Karras' sigmas
/// move them.
std::vector<double> euler_timesteps(const planner_input& from);

/// Replaces the sigmas by Karras' between the first and the last of them, if
/// the run wants those, and moves the timesteps to them.
void space_as_wanted(const planner_input& from, const sigma_curve& curve,
                     euler_schedule& at);

/// Fills in timesteps, input scales and levels; each sampler adds its own rules
/// for x0 and next.
sampler_plan start_euler_plan(const planner_input& from,
                              const euler_schedule& at);

} // namespace atelier::gpu
