// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

enum class beta_schedule : uint8_t { linear, scaled_linear, squaredcos_cap_v2 };
enum class timestep_spacing : uint8_t {
  leading,
  trailing,
  linspace,
  /// The web UI's; no scheduler_config.json names it.
  sgm_uniform
};
enum class prediction : uint8_t { epsilon, v_prediction, sample, flow };
enum class sigma_interpolation : uint8_t { linear, log_linear };
enum class timestep_kind : uint8_t { discrete, continuous };

/// A model's noise schedule: the fields of diffusers' scheduler_config.json
/// that affect the numbers, under diffusers' names. An empty field means
/// diffusers' default for the running sampler. A run with another sampler than
/// the file's therefore uses the values of OtherScheduler.from_config(config).
struct scheduler_config {
  /// The sampler that the file names, and whether it requests Karras sigmas.
  core::sampler sampler = core::sampler::ddim;
  bool use_karras_sigmas = false;
  /// The class in the file if `sampler` only replaces it (see
  /// core::stand_ins); otherwise empty.
  std::string stands_in_for;
  /// 1..100000.
  uint32_t num_train_timesteps = 1000;
  /// Above 0, below 1.
  std::optional<double> beta_start;
  std::optional<double> beta_end;
  std::optional<beta_schedule> betas;
  /// Replaces the three above; has one value per training timestep.
  std::vector<double> trained_betas;
  prediction predicts = prediction::epsilon;
  std::optional<timestep_spacing> spacing;
  /// 0..num_train_timesteps - 1.
  int32_t steps_offset = 0;
  /// Only DDIM and LCM use these.
  std::optional<bool> set_alpha_to_one;
  std::optional<bool> clip_sample;
  double clip_sample_range = 1;
  bool rescale_betas_zero_snr = false;
  /// Only Euler uses these.
  sigma_interpolation interpolation_type = sigma_interpolation::linear;
  timestep_kind timestep_type = timestep_kind::discrete;
  /// Only LCM uses these.
  uint32_t original_inference_steps = 50;
  double timestep_scaling = 10;
  /// Only flow matching uses this; above 0, at most 1000.
  double shift = 1;
};

/// Parses scheduler_config.json of a class named in core::samplers or
/// core::stand_ins. Unknown keys are rejected unless they begin with "_", and
/// so are keys that would change the numbers in an unsupported way. For a class
/// with a stand-in, only the keys that a schedule here uses are read. Errors:
/// ec::bad_config; the text names `where`, the key and the value. Threads: any.
core::result<scheduler_config> parse_scheduler(std::string_view json,
                                               std::string_view where);

/// The choices of a run that its schedule depends on.
struct sampler_choice {
  core::sampler sampler = core::sampler::ddim;
  /// At least 1, at most num_train_timesteps (one fewer for DPM-Solver++
  /// without Karras sigmas unless its spacing is trailing; for LCM
  /// original_inference_steps, times strength if its steps are spread).
  uint32_t steps = 0;
  /// Share of the schedule that runs, 0 < strength <= 1. Below 1, the first
  /// steps are left out (image to image). LCM may instead spread all its steps
  /// over the share.
  float strength = 1;
  core::strength_rule strength_rule = core::strength_rule::diffusers;
  core::share_steps lcm_steps = core::share_steps::spread;
  /// DDIM's share of new noise, 0..1; 0 for all others.
  float eta = 0;
  /// Whether to space sigmas as Karras does, for a sampler that has sigmas. The
  /// config's own setting is not used here.
  bool karras = false;
  /// Replaces the config's spacing unless it is `model`; for samplers that have
  /// one, and not with Karras' sigmas.
  core::step_spacing spacing = core::step_spacing::model;
  /// Whether a run of strength 1 starts from the clean latent with noise added,
  /// as image to image does. Images from a prompt and masked edits start from
  /// noise only. Below strength 1, every run starts from the clean latent.
  bool from_clean = false;
};

/// Returns a recipe's choices for its model's schedule. The caller sets
/// `from_clean`, as it knows whether a mask is used; no combination is rejected
/// because of it.
sampler_choice choice_of(const core::recipe& how);

/// One step of one row, as numbers. With x the latent and `out` the (guided)
/// prediction of the network at `timestep` for `input_scale * x`:
///
///   x0   = clamp(x0_from_x * x + x0_from_out * out, +-clip)
///   next = from_x * x + from_out * out + from_x0 * x0 + from_last * last
///          + from_noise * noise
///
/// where `last` is the x0 of the row's previous step (DPM-Solver++ 2M) and
/// `noise` new standard normal values.
struct step_rule {
  float timestep = 0;
  float input_scale = 1;
  float x0_from_x = 0;
  float x0_from_out = 0;
  /// 0: no clamp.
  float clip = 0;
  float from_x = 0;
  float from_out = 0;
  float from_x0 = 0;
  float from_last = 0;
  float from_noise = 0;
  /// At the end of this step, a clean latent c becomes `keep_clean * c +
  /// keep_noise * n`, n the request's initial noise. Unmasked places are set to
  /// this value.
  float keep_clean = 1;
  float keep_noise = 0;

  friend bool operator==(const step_rule&, const step_rule&) = default;
};

/// All steps of one row, planned before the first.
struct sampler_plan {
  std::vector<step_rule> steps;
  /// x at the start = start_clean * c + start_noise * n, with c the clean
  /// latent of an image-to-image start. start_clean is 0 without one.
  float start_clean = 0;
  float start_noise = 1;
  /// Whether a step reads the previous x0: the state must carry it.
  bool needs_last = false;

  /// Returns whether step `i` draws noise.
  bool draws(size_t i) const {
    return steps[i].from_noise != 0;
  }
};

/// Plans a run; pure. The betas and their products are diffusers' float32
/// values. Later values are computed in float64 and rounded once; every number
/// is finite. The plan has exactly the requested steps, even where diffusers
/// adds one: at timestep -1 if its trailing spacing rounds that way, and with
/// continuous timesteps of log-linear sigmas.
/// Errors: ec::invalid_argument (steps, strength, eta out of range, a
///         combination that has no meaning or that diffusers cannot run); the
///         text names the field, the value and the range.
/// Threads: any.
/// Source: diffusers 0.42 scheduling_{ddim, euler_discrete,
///         euler_ancestral_discrete, dpmsolver_multistep, lcm,
///         flow_match_euler_discrete}.py; strength: get_timesteps of
///         StableDiffusionImg2ImgPipeline, for flow matching that of
///         StableDiffusion3Img2ImgPipeline, for LCM its own set_timesteps,
///         or the web UI's rule (core::steps_of_share); sgm_uniform: the web
///         UI's modules/sd_schedulers.py
core::result<sampler_plan> plan_sampler(const scheduler_config& config,
                                        const sampler_choice& choice);

} // namespace atelier::gpu
