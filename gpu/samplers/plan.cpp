// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/samplers/detail/planners.hpp>
#include <atelier/gpu/samplers/noise_schedule.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace atelier::gpu {

namespace {

using core::ec;
using core::fail;
using core::sampler;

/// Checks that the sampler supports the prediction type.
core::result<void> check_prediction(const scheduler_config& config,
                                    sampler with) {
  if (static_cast<size_t>(with) >= core::sampler_count)
    return fail(ec::invalid_argument, "sampler {} is not known",
                static_cast<int>(with));
  const bool flow = config.predicts == prediction::flow;
  if (flow == row_of(with).matches_flow)
    return {};
  if (flow)
    return fail(ec::invalid_argument,
                "sampler {} cannot run a model that predicts flow, only {} can",
                to_string(with),
                core::list_samplers(&core::sampler_row::matches_flow));
  return fail(ec::invalid_argument,
              "sampler {} cannot run a model that does not predict flow",
              to_string(with));
}

core::result<void> check_spacing(const sampler_choice& choice) {
  if (choice.spacing == core::step_spacing::model)
    return {};
  const auto name = to_string(choice.spacing);
  const auto& row = row_of(choice.sampler);
  if (!row.has_spacing)
    return fail(ec::invalid_argument,
                "spacing {}: sampler {} has its own; {} obey it", name,
                row.name, core::list_samplers(&core::sampler_row::has_spacing));
  if (choice.spacing == core::step_spacing::sgm_uniform && !row.has_sigmas)
    return fail(ec::invalid_argument,
                "spacing {}: sampler {} has no sigmas to lie between its "
                "timesteps",
                name, row.name);
  if (choice.karras)
    return fail(ec::invalid_argument,
                "spacing {} with karras true: only one of them can space the "
                "steps",
                name);
  return {};
}

core::result<void> check_choice(const scheduler_config& config,
                                const sampler_choice& choice) {
  const auto name = to_string(choice.sampler);
  const uint32_t train = config.num_train_timesteps;
  // Written so that NaN, for which every comparison is false, is rejected.
  if (choice.steps == 0 || choice.steps > train)
    return fail(ec::invalid_argument,
                "steps {} outside 1..{} (num_train_timesteps)", choice.steps,
                train);
  if (!(choice.strength > 0 && choice.strength <= 1))
    return fail(ec::invalid_argument, "strength {} outside {}..1",
                choice.strength, least_strength(choice.steps));
  if (!(choice.eta >= 0 && choice.eta <= 1))
    return fail(ec::invalid_argument, "eta {} outside 0..1", choice.eta);
  if (choice.eta != 0 && !row_of(choice.sampler).has_eta)
    return fail(ec::invalid_argument, "eta {} outside 0..0 for sampler {}",
                choice.eta, name);
  if (choice.karras && !core::has_karras_sigmas(choice.sampler))
    return fail(ec::invalid_argument,
                "karras true: sampler {} has no sigmas; {} have", name,
                core::list_samplers(&core::sampler_row::has_sigmas));
  return check_spacing(choice);
}

core::result<void> check_config(const scheduler_config& config) {
  const auto train = static_cast<int64_t>(config.num_train_timesteps);
  if (train == 0 || train > most_train_timesteps)
    return fail(ec::invalid_argument, "num_train_timesteps {} outside 1..{}",
                train, most_train_timesteps);
  if (config.steps_offset < 0 || config.steps_offset >= train)
    return fail(ec::invalid_argument, "steps_offset {} outside 0..{}",
                config.steps_offset, train - 1);
  if (!(config.clip_sample_range > 0 && config.clip_sample_range <= 1e6))
    return fail(ec::invalid_argument, "clip_sample_range {} outside 0..1e6",
                config.clip_sample_range);
  if (!(config.timestep_scaling > 0 && config.timestep_scaling <= 1e6))
    return fail(ec::invalid_argument, "timestep_scaling {} outside 0..1e6",
                config.timestep_scaling);
  return {};
}

/// Returns the first step that runs.
core::result<uint32_t> first_step(const sampler_choice& choice) {
  const auto first =
    choice.steps
    - core::steps_of_share(choice.sampler, choice.steps, choice.strength,
                           choice.strength_rule, choice.lcm_steps);
  if (first >= choice.steps)
    return fail(ec::invalid_argument,
                "strength {} of {} steps runs no step; strength outside {}..1",
                choice.strength, choice.steps, least_strength(choice.steps));
  return first;
}

std::optional<timestep_spacing> wanted_spacing(const sampler_choice& choice) {
  switch (choice.spacing) {
    case core::step_spacing::model:
      break;
    case core::step_spacing::leading:
      return timestep_spacing::leading;
    case core::step_spacing::trailing:
      return timestep_spacing::trailing;
    case core::step_spacing::linspace:
      return timestep_spacing::linspace;
    case core::step_spacing::sgm_uniform:
      return timestep_spacing::sgm_uniform;
  }
  return std::nullopt;
}

/// Returns a config with the defaults of the sampler's diffusers class.
planner_input with_defaults(const scheduler_config& config,
                            const sampler_choice& choice) {
  const auto& own = planner_of(choice.sampler);
  planner_input out{config, choice};
  out.spacing =
    wanted_spacing(choice).value_or(config.spacing.value_or(own.spacing));
  out.set_alpha_to_one = config.set_alpha_to_one.value_or(true);
  out.clip =
    config.clip_sample.value_or(own.clip_sample) ? config.clip_sample_range : 0;
  return out;
}

/// Checks that all numbers are finite; no config in range is known to fail.
core::result<sampler_plan> checked(core::result<sampler_plan> plan) {
  if (!plan)
    return plan;
  for (const auto& x : plan->steps)
    for (float value : {x.timestep, x.input_scale, x.x0_from_x, x.x0_from_out,
                        x.from_x, x.from_out, x.from_x0, x.from_last,
                        x.from_noise, x.keep_clean, x.keep_noise})
      if (!std::isfinite(value))
        return fail(ec::invalid_argument,
                    "betas lead to {} at timestep {}, outside the finite "
                    "numbers",
                    value, x.timestep);
  return plan;
}

} // namespace

double as_written(float x) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x).ptr;
  double out = 0;
  std::from_chars(text.data(), end, out);
  return out;
}

double least_strength(uint32_t steps) {
  return std::ceil(1e6 / steps) / 1e6;
}

core::result<void> check_timesteps(const planner_input& from,
                                   std::span<const double> timesteps) {
  const double last = from.config.num_train_timesteps - 1.0;
  if (timesteps.front() <= last && timesteps.back() >= 0)
    return {};
  return fail(ec::invalid_argument,
              "steps {} with steps_offset {} begin at timestep {}, outside "
              "0..{}",
              from.choice.steps, from.config.steps_offset, timesteps.front(),
              last);
}

core::result<void> check_falling_sigmas(const planner_input& from,
                                        std::span<const double> sigmas) {
  for (size_t i = from.first; i + 1 < from.choice.steps; ++i)
    if (!(sigmas[i + 1] < sigmas[i]))
      return fail(ec::invalid_argument,
                  "rescale_betas_zero_snr {}: steps {} of sampler {} lead from "
                  "sigma {} to {}, outside 0..{}",
                  from.config.rescale_betas_zero_snr, from.choice.steps,
                  to_string(from.choice.sampler), sigmas[i], sigmas[i + 1],
                  sigmas[i]);
  return {};
}

void set_levels(sampler_plan& plan, const sampler_choice& choice,
                std::span<const noise_level> levels, double full_noise) {
  for (size_t i = 0; i + 1 < plan.steps.size(); ++i) {
    plan.steps[i].keep_clean = static_cast<float>(levels[i + 1].clean);
    plan.steps[i].keep_noise = static_cast<float>(levels[i + 1].noise);
  }
  if (choice.strength < 1 || choice.from_clean) {
    plan.start_clean = static_cast<float>(levels[0].clean);
    plan.start_noise = static_cast<float>(levels[0].noise);
  } else {
    plan.start_noise = static_cast<float>(full_noise);
  }
}

sampler_choice choice_of(const core::recipe& how) {
  sampler_choice out;
  out.sampler = how.sampler;
  out.steps = how.steps;
  out.strength = how.strength;
  out.strength_rule = how.strength_rule;
  out.lcm_steps = how.lcm_steps;
  out.eta = how.eta;
  out.karras = how.karras;
  out.spacing = how.spacing;
  return out;
}

core::result<sampler_plan> plan_sampler(const scheduler_config& config,
                                        const sampler_choice& choice) {
  if (auto ok = check_prediction(config, choice.sampler); !ok)
    return ok.why();
  if (auto ok = check_config(config); !ok)
    return ok.why();
  if (auto ok = check_choice(config, choice); !ok)
    return ok.why();
  const auto first = first_step(choice);
  if (!first)
    return first.why();
  auto from = with_defaults(config, choice);
  from.first = *first;
  if (config.predicts != prediction::flow) {
    auto alphas = alphas_cumprod(config, choice.sampler);
    if (!alphas)
      return alphas.why();
    from.alphas = *std::move(alphas);
  }
  return checked(planner_of(choice.sampler).plan(from));
}

} // namespace atelier::gpu
