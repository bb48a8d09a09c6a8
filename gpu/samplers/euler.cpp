// SPDX-License-Identifier: Apache-2.0
// Source: diffusers 0.42 scheduling_euler_discrete.py; arXiv 2206.00364,
// algorithm 1 of order 1.
#include <atelier/gpu/samplers/detail/euler_schedule.hpp>
#include <atelier/gpu/samplers/noise_schedule.hpp>

#include <cmath>

namespace atelier::gpu {

namespace {

bool is_continuous(const planner_input& from) {
  return from.config.timestep_type == timestep_kind::continuous
      && from.config.predicts == prediction::v_prediction;
}

std::vector<double> interpolated_sigmas(const planner_input& from,
                                        const sigma_curve& curve,
                                        const std::vector<double>& timesteps) {
  std::vector<double> sigmas;
  if (from.spacing == timestep_spacing::sgm_uniform) {
    for (double t : timesteps)
      sigmas.push_back(curve.at_by_log(t));
    return sigmas;
  }
  if (from.config.interpolation_type == sigma_interpolation::linear) {
    for (double t : timesteps)
      sigmas.push_back(curve.at(t));
    return sigmas;
  }
  // One more sigma than steps: the last step ends at the smallest one.
  for (float log : linspace_f32(static_cast<float>(std::log(curve.largest())),
                                static_cast<float>(std::log(curve.smallest())),
                                from.choice.steps + 1))
    sigmas.push_back(std::exp(double{log}));
  return sigmas;
}

euler_schedule schedule_of(const planner_input& from) {
  const sigma_curve curve{from.alphas};
  euler_schedule at;
  at.timesteps = euler_timesteps(from);
  at.sigmas = interpolated_sigmas(from, curve, at.timesteps);
  space_as_wanted(from, curve, at);
  if (is_continuous(from))
    for (size_t i = 0; i < at.timesteps.size(); ++i)
      at.timesteps[i] = 0.25 * std::log(at.sigmas[i]);
  at.sigmas.push_back(0);
  return at;
}

void set_rule(step_rule& rule, prediction predicts, double sigma, double next) {
  const double one = sigma * sigma + 1;
  switch (predicts) {
    case prediction::v_prediction:
      rule.x0_from_x = static_cast<float>(1 / one);
      rule.x0_from_out = static_cast<float>(-sigma / std::sqrt(one));
      rule.from_x = static_cast<float>((1 + sigma * next) / one);
      rule.from_out = static_cast<float>((next - sigma) / std::sqrt(one));
      return;
    case prediction::sample:
      rule.x0_from_out = 1;
      rule.from_x = static_cast<float>(next / sigma);
      rule.from_out = static_cast<float>(1 - next / sigma);
      return;
    default:
      rule.x0_from_x = 1;
      rule.x0_from_out = static_cast<float>(-sigma);
      rule.from_x = 1;
      rule.from_out = static_cast<float>(next - sigma);
  }
}

} // namespace

core::result<sampler_plan> plan_euler(const planner_input& from) {
  const auto at = schedule_of(from);
  if (!is_continuous(from))
    if (auto ok = check_timesteps(from, at.timesteps); !ok)
      return ok.why();
  auto plan = start_euler_plan(from, at);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const size_t j = i + from.first;
    set_rule(plan.steps[i], from.config.predicts, at.sigmas[j],
             at.sigmas[j + 1]);
  }
  return plan;
}

} // namespace atelier::gpu
