// SPDX-License-Identifier: Apache-2.0
// Source: diffusers 0.42 scheduling_lcm.py; arXiv 2310.04378, algorithm 3.
#include <atelier/gpu/samplers/detail/planners.hpp>
#include <atelier/gpu/samplers/detail/predicted_x0.hpp>
#include <atelier/gpu/samplers/detail/timesteps.hpp>

#include <cmath>

namespace atelier::gpu {

namespace {

using core::ec;
using core::fail;

/// Chooses steps from those that the model was distilled on.
core::result<std::vector<double>> timesteps_of(const planner_input& from) {
  const uint32_t train = from.config.num_train_timesteps;
  const uint32_t original = from.config.original_inference_steps;
  const uint32_t n = from.choice.steps;
  if (original == 0 || original > train)
    return fail(ec::invalid_argument,
                "original_inference_steps {} outside 1..{} "
                "(num_train_timesteps)",
                original, train);
  const bool spreads = from.choice.lcm_steps == core::share_steps::spread;
  const double strength = spreads ? as_written(from.choice.strength) : 1;
  const auto usable = static_cast<uint32_t>(original * strength);
  if (usable == 0)
    return fail(ec::invalid_argument,
                "strength {} of {} original_inference_steps runs no step; "
                "strength outside {}..1",
                strength, original, least_strength(original));
  if (n > usable)
    return fail(ec::invalid_argument,
                "steps {} outside 1..{} (original_inference_steps {} x "
                "strength {})",
                n, usable, original, strength);
  const uint32_t stride = train / original;
  const double skip = double{1} * usable / n;
  std::vector<double> out;
  for (uint32_t i = spreads ? 0 : from.first; i < n; ++i) {
    const auto index = static_cast<uint32_t>(i * skip);
    out.push_back(double{1} * (usable - index) * stride - 1);
  }
  return out;
}

} // namespace

core::result<sampler_plan> plan_lcm(const planner_input& from) {
  const auto timesteps = timesteps_of(from);
  if (!timesteps)
    return timesteps.why();
  sampler_plan plan;
  std::vector<noise_level> levels;
  for (double t : *timesteps) {
    const double alpha = from.alphas[static_cast<size_t>(t)];
    levels.push_back({std::sqrt(alpha), std::sqrt(1 - alpha)});
  }
  levels.push_back({1, 0});
  for (size_t i = 0; i < timesteps->size(); ++i) {
    const double t = (*timesteps)[i];
    step_rule rule;
    rule.timestep = static_cast<float>(t);
    rule.clip = static_cast<float>(from.clip);
    const double alpha = from.alphas[static_cast<size_t>(t)];
    if (auto ok = set_x0(rule, from.config.predicts, alpha); !ok)
      return ok.why();
    // The result is a blend of x and x0: x at time 0, nearly x0 elsewhere.
    constexpr double data_variance = 0.25;
    const double scaled = t * from.config.timestep_scaling;
    const double sum = scaled * scaled + data_variance;
    const double skip = data_variance / sum;
    const double out = scaled / std::sqrt(sum);
    const auto& next = levels[i + 1];
    rule.from_x = static_cast<float>(next.clean * skip);
    rule.from_x0 = static_cast<float>(next.clean * out);
    rule.from_noise = static_cast<float>(next.noise);
    plan.steps.push_back(rule);
  }
  levels.pop_back();
  set_levels(plan, from.choice, levels, 1);
  return plan;
}

} // namespace atelier::gpu
