// SPDX-License-Identifier: Apache-2.0
// Source: diffusers 0.42 scheduling_dpmsolver_multistep.py with algorithm_type
// dpmsolver++, solver_order 2, solver_type midpoint; arXiv 2211.01095,
// algorithm 2.
#include <atelier/gpu/samplers/detail/planners.hpp>
#include <atelier/gpu/samplers/detail/sigma_curve.hpp>
#include <atelier/gpu/samplers/detail/timesteps.hpp>

#include <cmath>
#include <tuple>
#include <utility>

namespace atelier::gpu {

namespace {

std::vector<double> timesteps_of(const planner_input& from) {
  const uint32_t train = from.config.num_train_timesteps;
  const uint32_t n = from.choice.steps;
  if (from.spacing == timestep_spacing::trailing)
    return trailing_timesteps(train, n);
  if (from.spacing == timestep_spacing::sgm_uniform)
    return sgm_timesteps(train, n);
  // One more timestep than steps; the lowest is left out.
  if (from.spacing == timestep_spacing::leading)
    return leading_timesteps(train / (n + 1), n, 1, from.config.steps_offset);
  auto out = linspace_timesteps(train, n + 1);
  out.pop_back();
  for (double& t : out)
    t = std::nearbyint(t);
  return out;
}

std::pair<std::vector<double>, std::vector<double>> karras_schedule(
  const planner_input& from, const sigma_curve& curve) {
  auto sigmas =
    karras_sigmas(curve.largest(), curve.smallest(), from.choice.steps);
  std::vector<double> timesteps;
  const bool cosine = from.config.betas == beta_schedule::squaredcos_cap_v2;
  for (double sigma : sigmas) {
    const double t = curve.timestep_of(sigma);
    timesteps.push_back(cosine ? std::trunc(t) : std::nearbyint(t));
  }
  return {std::move(timesteps), std::move(sigmas)};
}

/// A noise level in the solver's terms: signal, noise, and the logarithm of
/// their quotient.
struct half_snr {
  explicit half_snr(double sigma)
    : alpha(1 / std::sqrt(sigma * sigma + 1)),
      noise(sigma * alpha),
      lambda(-std::log(sigma)) {}

  double alpha;
  double noise;
  double lambda;
};

void set_x0(step_rule& rule, prediction predicts, double sigma) {
  const double root = std::sqrt(sigma * sigma + 1);
  switch (predicts) {
    case prediction::v_prediction:
      rule.x0_from_x = static_cast<float>(1 / root);
      rule.x0_from_out = static_cast<float>(-sigma / root);
      return;
    case prediction::sample:
      rule.x0_from_out = 1;
      return;
    default:
      rule.x0_from_x = static_cast<float>(root);
      rule.x0_from_out = static_cast<float>(-sigma);
  }
}

/// Sets the exact solution for a constant x0.
double set_first_order(step_rule& rule, const half_snr& now,
                       const half_snr& next) {
  const double change = -next.alpha * std::expm1(now.lambda - next.lambda);
  rule.from_x = static_cast<float>(next.noise / now.noise);
  rule.from_x0 = static_cast<float>(change);
  return change;
}

/// Sets the solution for an x0 that continues its last change linearly.
void set_second_order(step_rule& rule, const half_snr& before,
                      const half_snr& now, const half_snr& next) {
  const double change = set_first_order(rule, now, next);
  const double slope =
    (next.lambda - now.lambda) / (now.lambda - before.lambda);
  rule.from_x0 = static_cast<float>(change * (1 + 0.5 * slope));
  rule.from_last = static_cast<float>(-0.5 * change * slope);
}

} // namespace

core::result<sampler_plan> plan_dpmpp_2m(const planner_input& from) {
  const uint32_t n = from.choice.steps;
  const uint32_t train = from.config.num_train_timesteps;
  const bool sgm = from.spacing == timestep_spacing::sgm_uniform;
  if (!from.choice.karras && from.spacing != timestep_spacing::trailing && !sgm
      && n >= train)
    return core::fail(core::ec::invalid_argument,
                      "steps {} outside 1..{} for sampler dpmpp_2m with this "
                      "spacing and num_train_timesteps {}",
                      n, train - 1, train);
  const sigma_curve curve{from.alphas};
  auto timesteps = timesteps_of(from);
  std::vector<double> sigmas;
  if (from.choice.karras)
    std::tie(timesteps, sigmas) = karras_schedule(from, curve);
  else
    for (double t : timesteps)
      sigmas.push_back(sgm ? curve.at_by_log(t) : curve.at(t));
  if (auto ok = check_timesteps(from, timesteps); !ok)
    return ok.why();
  sampler_plan plan;
  std::vector<noise_level> levels;
  for (size_t i = from.first; i < n; ++i) {
    const half_snr now{sigmas[i]};
    step_rule rule;
    rule.timestep = static_cast<float>(timesteps[i]);
    set_x0(rule, from.config.predicts, sigmas[i]);
    if (i + 1 == n)
      rule.from_x0 = 1;
    else if (i == from.first)
      set_first_order(rule, now, half_snr{sigmas[i + 1]});
    else
      set_second_order(rule, half_snr{sigmas[i - 1]}, now,
                       half_snr{sigmas[i + 1]});
    plan.needs_last = plan.needs_last || rule.from_last != 0;
    plan.steps.push_back(rule);
    levels.push_back({now.alpha, now.noise});
  }
  set_levels(plan, from.choice, levels, 1);
  return plan;
}

} // namespace atelier::gpu
