// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

enum class beta_schedule : uint8_t { linear, scaled_linear, squaredcos_cap_v2 };
enum class timestep_spacing : uint8_t { leading, trailing, linspace };
enum class prediction : uint8_t { epsilon, v_prediction, sample, flow };

/// A model's noise schedule: what of diffusers' scheduler_config.json bears on
/// the numbers, with diffusers' names.
struct scheduler_config {
  /// The sampler that the file names, and whether it asks for Karras sigmas.
  core::sampler with = core::sampler::ddim;
  bool use_karras_sigmas = false;
  uint32_t num_train_timesteps = 1000;
  double beta_start = 0.0001;
  double beta_end = 0.02;
  beta_schedule betas = beta_schedule::linear;
  std::vector<double> trained_betas;
  prediction predicts = prediction::epsilon;
  timestep_spacing spacing = timestep_spacing::leading;
  int32_t steps_offset = 0;
  bool set_alpha_to_one = true;
  bool clip_sample = false;
  double clip_sample_range = 1;
  bool rescale_betas_zero_snr = false;
  /// Of LCM.
  uint32_t original_inference_steps = 50;
  double timestep_scaling = 10;
  /// Of flow matching.
  double shift = 1;
};

/// Reads scheduler_config.json. Keys that change the numbers in a way that is
/// not supported are refused by name.
/// Errors: ec::bad_config; the text names `where`, the key and the value.
core::result<scheduler_config> parse_scheduler(std::string_view json,
                                               std::string_view where);

/// What a run asks of a schedule.
struct sampler_choice {
  core::sampler with = core::sampler::ddim;
  uint32_t steps = 0;
  /// Share of the schedule that runs, 0 < strength <= 1; below 1 the first
  /// steps are left out (image to image).
  float strength = 1;
  /// DDIM's share of fresh noise, 0..1.
  float eta = 0;
  bool karras = false;
};

/// One step of one row, as numbers alone. With x the latent and `out` the
/// (guided) prediction of the network at `timestep` for `input_scale * x`:
///
///   x0   = clamp(x0_from_x * x + x0_from_out * out, +-clip)
///   next = from_x * x + from_x0 * x0 + from_last * last + from_noise * noise
///
/// where `last` is the x0 of the row's step before (DPM-Solver++ 2M) and
/// `noise` fresh standard normal values.
struct step_rule {
  float timestep = 0;
  float input_scale = 1;
  float x0_from_x = 0;
  float x0_from_out = 0;
  /// 0: no clamp.
  float clip = 0;
  float from_x = 0;
  float from_x0 = 0;
  float from_last = 0;
  float from_noise = 0;
  /// A clean latent c is at this step's end `keep_clean * c + keep_noise * n`,
  /// n the request's initial noise: what unmasked places are set to.
  float keep_clean = 1;
  float keep_noise = 0;
};

/// All steps of one row, planned before the first.
struct sampler_plan {
  std::vector<step_rule> steps;
  /// x at the start = start_clean * c + start_noise * n; c the clean latent of
  /// an image-to-image start (start_clean is 0 where there is none).
  float start_clean = 0;
  float start_noise = 1;
  /// Whether a step reads the x0 before it: the state must carry it.
  bool needs_last = false;

  /// Whether step `i` draws noise.
  bool draws(size_t i) const {
    return steps[i].from_noise != 0;
  }
};

/// Plans a run: pure, in float64, rounded once. What diffusers computes
/// for the same configuration, to 1e-5.
/// Errors: ec::invalid_argument (steps, strength, eta out of range, a
///         combination that has no meaning); the text names the field, the
///         value and the range.
/// Source: diffusers 0.42 scheduling_{ddim, euler_discrete,
///         euler_ancestral_discrete, dpmsolver_multistep, lcm,
///         flow_match_euler_discrete}.py
core::result<sampler_plan> plan_sampler(const scheduler_config& config,
                                        const sampler_choice& choice);

} // namespace atelier::gpu
