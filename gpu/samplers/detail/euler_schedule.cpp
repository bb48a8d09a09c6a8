// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/samplers/detail/euler_schedule.hpp>
#include <atelier/gpu/samplers/detail/timesteps.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

std::vector<double> euler_timesteps(const planner_input& from) {
  const uint32_t train = from.config.num_train_timesteps;
  const uint32_t n = from.choice.steps;
  switch (from.spacing) {
    case timestep_spacing::leading:
      return leading_timesteps(train / n, n, 0, from.config.steps_offset);
    case timestep_spacing::trailing:
      return trailing_timesteps(train, n);
    case timestep_spacing::sgm_uniform:
      return sgm_timesteps(train, n);
    case timestep_spacing::linspace:
      break;
  }
  auto out = linspace_timesteps(train, n);
  // diffusers' timesteps are float32, and its sigmas are computed from them.
  for (double& t : out)
    t = static_cast<float>(t);
  return out;
}

void space_as_wanted(const planner_input& from, const sigma_curve& curve,
                     euler_schedule& at) {
  if (!from.choice.karras)
    return;
  at.sigmas =
    karras_sigmas(at.sigmas.front(), at.sigmas.back(), from.choice.steps);
  for (size_t i = 0; i < at.timesteps.size(); ++i)
    at.timesteps[i] = curve.timestep_of(at.sigmas[i]);
}

sampler_plan start_euler_plan(const planner_input& from,
                              const euler_schedule& at) {
  sampler_plan plan;
  std::vector<noise_level> levels;
  for (size_t i = from.first; i < from.choice.steps; ++i) {
    const double sigma = at.sigmas[i];
    step_rule rule;
    rule.timestep = static_cast<float>(at.timesteps[i]);
    rule.input_scale = static_cast<float>(1 / std::sqrt(sigma * sigma + 1));
    plan.steps.push_back(rule);
    levels.push_back({1, sigma});
  }
  const double most = *std::max_element(at.sigmas.begin(), at.sigmas.end());
  const bool leading = from.spacing == timestep_spacing::leading;
  set_levels(plan, from.choice, levels,
             leading ? std::sqrt(most * most + 1) : most);
  return plan;
}

} // namespace atelier::gpu
