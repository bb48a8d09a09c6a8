// SPDX-License-Identifier: Apache-2.0
// Source: diffusers 0.42 scheduling_flow_match_euler_discrete.py.
#include <atelier/gpu/samplers/detail/planners.hpp>
#include <atelier/gpu/samplers/detail/sigma_curve.hpp>
#include <atelier/gpu/samplers/detail/timesteps.hpp>

namespace atelier::gpu {

namespace {

double shifted(double sigma, double shift) {
  return shift * sigma / (1 + (shift - 1) * sigma);
}

std::vector<double> sigmas_of(const planner_input& from) {
  const uint32_t n = from.choice.steps;
  const double train = from.config.num_train_timesteps;
  const double shift = from.config.shift;
  // diffusers shifts the smallest sigma once for its range, and then all sigmas
  // again.
  const double smallest = static_cast<float>(shifted(1 / train, shift));
  auto sigmas = linspace(train, smallest * train, n);
  for (double& x : sigmas)
    x = shifted(x / train, shift);
  if (from.choice.karras)
    sigmas = karras_sigmas(sigmas.front(), sigmas.back(), n);
  sigmas.push_back(0);
  return sigmas;
}

} // namespace

core::result<sampler_plan> plan_flow_match_euler(const planner_input& from) {
  if (!(from.config.shift > 0 && from.config.shift <= 1000))
    return core::fail(core::ec::invalid_argument, "shift {} outside 0..1000",
                      from.config.shift);
  const auto sigmas = sigmas_of(from);
  sampler_plan plan;
  std::vector<noise_level> levels;
  for (size_t i = from.first; i < from.choice.steps; ++i) {
    const double sigma = sigmas[i];
    step_rule rule;
    rule.timestep = static_cast<float>(sigma * from.config.num_train_timesteps);
    rule.x0_from_x = 1;
    rule.x0_from_out = static_cast<float>(-sigma);
    rule.from_x = 1;
    rule.from_out = static_cast<float>(sigmas[i + 1] - sigma);
    plan.steps.push_back(rule);
    levels.push_back({1 - sigma, sigma});
  }
  set_levels(plan, from.choice, levels, 1);
  return plan;
}

} // namespace atelier::gpu
