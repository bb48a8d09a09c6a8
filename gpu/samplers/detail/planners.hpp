// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace atelier::gpu {

/// The inputs of every planner: a config with the running sampler's defaults,
/// and a choice whose numbers are each in range.
struct planner_input {
  const scheduler_config& config;
  const sampler_choice& choice;
  timestep_spacing spacing = timestep_spacing::leading;
  bool set_alpha_to_one = true;
  /// 0: no clamp.
  double clip = 0;
  /// The alphas_cumprod; empty for flow matching.
  std::vector<double> alphas = {};
  /// Index of the first of choice.steps to run; 0 for LCM.
  uint32_t first = 0;
};

/// The amounts of clean latent and of noise in a latent.
struct noise_level {
  double clean = 1;
  double noise = 0;
};

/// Sets a plan's levels: the value of unmasked places after each step, and the
/// start, which is noise times `full_noise`, or the first level. `levels` are
/// those at the start of each step that runs; the last step ends clean.
void set_levels(sampler_plan& plan, const sampler_choice& choice,
                std::span<const noise_level> levels, double full_noise);

/// Returns the decimal number that a float was written as: 0.7f is 0.7. The
/// product with a step count then rounds as it does in Python.
double as_written(float x);

/// Returns the smallest strength, to six digits, that runs one of `steps`.
double least_strength(uint32_t steps);

/// Checks that all of a run's timesteps, in falling order, are trained ones: an
/// offset may have moved them out of range.
core::result<void> check_timesteps(const planner_input& from,
                                   std::span<const double> timesteps);

/// Checks that the sigmas of the steps that run are falling. Without a terminal
/// signal, the first may be 4096 and the next above it.
core::result<void> check_falling_sigmas(const planner_input& from,
                                        std::span<const double> sigmas);

/// Plans one sampler's run; see plan_sampler.
using plan_function = core::result<sampler_plan>(const planner_input& from);

plan_function plan_ddim;
plan_function plan_euler;
plan_function plan_euler_ancestral;
plan_function plan_dpmpp_2m;
plan_function plan_lcm;
plan_function plan_flow_match_euler;

/// A sampler's planning function, with the defaults of its diffusers class for
/// fields that a config omits.
struct planner {
  core::sampler of;
  plan_function* plan;
  timestep_spacing spacing = timestep_spacing::linspace;
  bool clip_sample = false;
  double beta_start = 0.0001;
  double beta_end = 0.02;
  beta_schedule betas = beta_schedule::linear;
};

/// One entry for each row of core::samplers, in the same order.
inline constexpr planner planners[] = {
  {.of = core::sampler::ddim,
   .plan = plan_ddim,
   .spacing = timestep_spacing::leading,
   .clip_sample = true},
  {.of = core::sampler::euler, .plan = plan_euler},
  {.of = core::sampler::euler_ancestral, .plan = plan_euler_ancestral},
  {.of = core::sampler::dpmpp_2m, .plan = plan_dpmpp_2m},
  {.of = core::sampler::lcm,
   .plan = plan_lcm,
   .spacing = timestep_spacing::leading,
   .beta_start = 0.00085,
   .beta_end = 0.012,
   .betas = beta_schedule::scaled_linear},
  {.of = core::sampler::flow_match_euler, .plan = plan_flow_match_euler},
};

static_assert(std::ranges::equal(planners, core::samplers, {}, &planner::of,
                                 &core::sampler_row::of),
              "every sampler has a planner");

/// Returns a sampler's planner.
constexpr const planner& planner_of(core::sampler x) {
  return planners[static_cast<size_t>(x)];
}

} // namespace atelier::gpu
