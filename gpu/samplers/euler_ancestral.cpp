// SPDX-License-Identifier: Apache-2.0
// Source: diffusers 0.42 scheduling_euler_ancestral_discrete.py; k-diffusion's
// get_ancestral_step. Only k-diffusion has Karras' sigmas for it; they lie
// where diffusers' Euler puts them.
#include <atelier/gpu/samplers/detail/euler_schedule.hpp>

#include <cmath>

namespace atelier::gpu {

core::result<sampler_plan> plan_euler_ancestral(const planner_input& from) {
  if (from.config.predicts == prediction::sample)
    return core::fail(
      core::ec::invalid_argument,
      "sampler euler_ancestral cannot run a model that predicts "
      "sample, only epsilon and v_prediction");
  const sigma_curve curve{from.alphas};
  euler_schedule at;
  at.timesteps = euler_timesteps(from);
  if (auto ok = check_timesteps(from, at.timesteps); !ok)
    return ok.why();
  for (double t : at.timesteps)
    at.sigmas.push_back(from.spacing == timestep_spacing::sgm_uniform
                          ? curve.at_by_log(t)
                          : curve.at(t));
  space_as_wanted(from, curve, at);
  if (auto ok = check_falling_sigmas(from, at.sigmas); !ok)
    return ok.why();
  at.sigmas.push_back(0);
  auto plan = start_euler_plan(from, at);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const double sigma = at.sigmas[i + from.first];
    const double next = at.sigmas[i + from.first + 1];
    // Steps down to `down`, then adds noise up to `next`.
    const double down = next * next / sigma;
    auto& rule = plan.steps[i];
    rule.from_noise = static_cast<float>(
      next / sigma * std::sqrt((sigma - next) * (sigma + next)));
    const double one = sigma * sigma + 1;
    if (from.config.predicts == prediction::v_prediction) {
      rule.x0_from_x = static_cast<float>(1 / one);
      rule.x0_from_out = static_cast<float>(-sigma / std::sqrt(one));
      rule.from_x = static_cast<float>((1 + next * next) / one);
      rule.from_out = static_cast<float>((down - sigma) / std::sqrt(one));
    } else {
      rule.x0_from_x = 1;
      rule.x0_from_out = static_cast<float>(-sigma);
      rule.from_x = 1;
      rule.from_out = static_cast<float>(down - sigma);
    }
  }
  return plan;
}

} // namespace atelier::gpu
