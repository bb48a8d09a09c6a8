// SPDX-License-Identifier: Apache-2.0
// Source: diffusers 0.42 scheduling_ddim.py; arXiv 2010.02502, equations 12 and
// 16.
#include <atelier/gpu/samplers/detail/planners.hpp>
#include <atelier/gpu/samplers/detail/predicted_x0.hpp>
#include <atelier/gpu/samplers/detail/timesteps.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

namespace {

std::vector<double> timesteps_of(const planner_input& from) {
  const uint32_t train = from.config.num_train_timesteps;
  const uint32_t n = from.choice.steps;
  switch (from.spacing) {
    case timestep_spacing::leading:
      return leading_timesteps(train / n, n, 0, from.config.steps_offset);
    case timestep_spacing::trailing:
      return trailing_timesteps(train, n);
    case timestep_spacing::linspace:
    case timestep_spacing::sgm_uniform:
      break;
  }
  auto out = linspace_timesteps(train, n);
  for (double& t : out)
    t = std::nearbyint(t);
  return out;
}

/// The noise in x, as a function of x and the network's output. The clamp of x0
/// does not affect it.
struct predicted_noise {
  double from_x;
  double from_out;
};

predicted_noise noise_of(prediction predicts, double alpha) {
  const double signal = std::sqrt(alpha);
  const double noise = std::sqrt(1 - alpha);
  switch (predicts) {
    case prediction::v_prediction:
      return {noise, signal};
    case prediction::sample:
      return {1 / noise, -signal / noise};
    default:
      return {0, 1};
  }
}

void set_next(step_rule& rule, const planner_input& from, double alpha,
              double alpha_next) {
  const double variance =
    (1 - alpha_next) / (1 - alpha) * (1 - alpha / alpha_next);
  const double deviation = double{from.choice.eta} * std::sqrt(variance);
  const double direction =
    std::sqrt(std::max(0.0, 1 - alpha_next - deviation * deviation));
  const auto noise = noise_of(from.config.predicts, alpha);
  rule.from_x = static_cast<float>(direction * noise.from_x);
  rule.from_out = static_cast<float>(direction * noise.from_out);
  rule.from_x0 = static_cast<float>(std::sqrt(alpha_next));
  rule.from_noise = static_cast<float>(deviation);
}

} // namespace

core::result<sampler_plan> plan_ddim(const planner_input& from) {
  const auto timesteps = timesteps_of(from);
  if (auto ok = check_timesteps(from, timesteps); !ok)
    return ok.why();
  // Not the next timestep, which rounding or an offset may have moved.
  const auto stride = from.config.num_train_timesteps / from.choice.steps;
  const double final = from.set_alpha_to_one ? 1 : from.alphas[0];
  sampler_plan plan;
  std::vector<noise_level> levels;
  for (size_t i = from.first; i < timesteps.size(); ++i) {
    const auto t = static_cast<size_t>(timesteps[i]);
    const double alpha = from.alphas[t];
    step_rule rule;
    rule.timestep = static_cast<float>(timesteps[i]);
    rule.clip = static_cast<float>(from.clip);
    if (auto ok = set_x0(rule, from.config.predicts, alpha); !ok)
      return ok.why();
    set_next(rule, from, alpha, t >= stride ? from.alphas[t - stride] : final);
    plan.steps.push_back(rule);
    levels.push_back({std::sqrt(alpha), std::sqrt(1 - alpha)});
  }
  set_levels(plan, from.choice, levels, 1);
  return plan;
}

} // namespace atelier::gpu
