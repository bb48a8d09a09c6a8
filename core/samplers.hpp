// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/enum_count.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace atelier::core {

/// The update rule and noise schedule of a run. Processes exchange its number,
/// so a new sampler is added at the end.
enum class sampler : uint8_t {
  ddim,
  euler,
  euler_ancestral,
  dpmpp_2m,
  lcm,
  flow_match_euler,
};

/// How many steps run from an image: a rounding of steps x strength.
enum class steps_from_image : uint8_t {
  rounded_down,
  rounded_up,
  /// The sampler spreads all its steps over the fraction, or leaves out its
  /// first steps and rounds down, as `share_steps` says.
  all,
};

/// What a fraction of the schedule does to the steps of a sampler that could
/// spread them (`steps_from_image::all`).
enum class share_steps : uint8_t {
  /// All steps lie within the fraction, as in diffusers' pipelines for latent
  /// consistency models.
  spread,
  /// The first steps of the whole schedule do not run, as in diffusers' other
  /// pipelines.
  cut,
};

/// Where a run's steps lie on the noise schedule.
enum class step_spacing : uint8_t {
  /// As the model's scheduler_config.json says.
  model,
  /// As the timestep_spacing of diffusers.
  leading,
  trailing,
  linspace,
  /// The web UI's "SGM Uniform": evenly from the noisiest timestep, without the
  /// last one. Distilled few-step models need it or `trailing`.
  sgm_uniform,
};

inline constexpr std::array<std::string_view, enum_count<step_spacing>>
  step_spacing_names = {"model", "leading", "trailing", "linspace",
                        "sgm_uniform"};

/// The names in the web UI's metadata; only the last is one of its own.
inline constexpr std::array<std::string_view, enum_count<step_spacing>>
  step_spacing_webui_names = {"Automatic", "Leading", "Trailing", "Linspace",
                              "SGM Uniform"};

/// How a strength becomes the number of steps that run from an image.
enum class strength_rule : uint8_t {
  /// A rounding of steps x strength.
  diffusers,
  /// The web UI's count, which is one more for samplers with sigmas: the
  /// strength there says how far the first sigma lies above the last step.
  webui,
};

inline constexpr std::array<std::string_view, enum_count<strength_rule>>
  strength_rule_names = {"diffusers", "webui"};

/// The properties of a sampler that are used outside gpu/samplers.
struct sampler_row {
  sampler of;
  std::string_view name;
  /// The web UI's name, and its place in the web UI's list, from 0.
  std::string_view webui;
  uint8_t webui_place;
  /// Other names that the web UI accepts, in lower case.
  /// Source: modules/sd_samplers_kdiffusion.py, sd_samplers_timesteps.py.
  std::array<std::string_view, 2> webui_also = {};
  /// The _class_name in a scheduler_config.json that selects the sampler.
  std::string_view diffusers;
  /// The sampler steps along sigmas, which can have Karras' spacing.
  bool has_sigmas = false;
  /// A model whose scheduler_config.json asks for Karras' spacing runs this
  /// sampler with it. The class in diffusers of another sampler that has sigmas
  /// ignores that key.
  bool obeys_karras = false;
  /// The sampler runs along the timesteps of a spacing.
  bool has_spacing = false;
  /// The sampler can add a fraction of new noise in each step.
  bool has_eta = false;
  /// The sampler runs models that predict flow, and only those.
  bool matches_flow = false;
  steps_from_image from_image = steps_from_image::rounded_down;
};

/// Every sampler, by its number.
inline constexpr sampler_row samplers[] = {
  {.of = sampler::ddim,
   .name = "ddim",
   .webui = "DDIM",
   .webui_place = 3,
   .diffusers = "DDIMScheduler",
   .has_spacing = true,
   .has_eta = true},
  {.of = sampler::euler,
   .name = "euler",
   .webui = "Euler",
   .webui_place = 0,
   .webui_also = {"k_euler"},
   .diffusers = "EulerDiscreteScheduler",
   .has_sigmas = true,
   .obeys_karras = true,
   .has_spacing = true},
  {.of = sampler::euler_ancestral,
   .name = "euler_ancestral",
   .webui = "Euler a",
   .webui_place = 1,
   .webui_also = {"k_euler_a", "k_euler_ancestral"},
   .diffusers = "EulerAncestralDiscreteScheduler",
   .has_sigmas = true,
   .has_spacing = true},
  {.of = sampler::dpmpp_2m,
   .name = "dpmpp_2m",
   .webui = "DPM++ 2M",
   .webui_place = 2,
   .webui_also = {"k_dpmpp_2m"},
   .diffusers = "DPMSolverMultistepScheduler",
   .has_sigmas = true,
   .obeys_karras = true,
   .has_spacing = true},
  {.of = sampler::lcm,
   .name = "lcm",
   .webui = "LCM",
   .webui_place = 4,
   .webui_also = {"k_lcm"},
   .diffusers = "LCMScheduler",
   .from_image = steps_from_image::all},
  {.of = sampler::flow_match_euler,
   .name = "flow_match_euler",
   .webui = "Flow match Euler",
   .webui_place = 5,
   .diffusers = "FlowMatchEulerDiscreteScheduler",
   .has_sigmas = true,
   .obeys_karras = true,
   .matches_flow = true,
   .from_image = steps_from_image::rounded_up},
};

/// A scheduler class of diffusers that has no sampler here, and the most
/// similar sampler, which runs in its place.
struct stand_in {
  std::string_view diffusers;
  sampler runs;
};

/// The classes that models often name. They share their betas and prediction
/// types with the samplers above, so that only the path of the steps differs.
inline constexpr stand_in stand_ins[] = {
  {"PNDMScheduler", sampler::ddim},
  {"DDPMScheduler", sampler::ddim},
  {"UniPCMultistepScheduler", sampler::dpmpp_2m},
  {"DEISMultistepScheduler", sampler::dpmpp_2m},
  {"DPMSolverSinglestepScheduler", sampler::dpmpp_2m},
  {"LMSDiscreteScheduler", sampler::euler},
  {"HeunDiscreteScheduler", sampler::euler},
  {"KDPM2DiscreteScheduler", sampler::euler},
  {"KDPM2AncestralDiscreteScheduler", sampler::euler_ancestral},
};

inline constexpr size_t sampler_count = enum_count<sampler>;

/// Returns a sampler's row.
constexpr const sampler_row& row_of(sampler x) {
  return samplers[static_cast<size_t>(x)];
}

/// The names of all samplers, by number.
inline constexpr auto sampler_names = [] {
  std::array<std::string_view, sampler_count> out;
  for (size_t i = 0; i < sampler_count; ++i)
    out[i] = samplers[i].name;
  return out;
}();

/// The samplers in the web UI's order.
inline constexpr auto samplers_of_webui = [] {
  std::array<sampler, sampler_count> out{};
  for (const auto& x : samplers)
    out[x.webui_place] = x.of;
  return out;
}();

static_assert(std::size(samplers) == sampler_count,
              "every sampler has one row");
static_assert(std::ranges::all_of(samplers,
                                  [](const sampler_row& x) {
                                    return &row_of(x.of) == &x
                                        && &row_of(
                                             samplers_of_webui[x.webui_place])
                                             == &x;
                                  }),
              "rows stand by number, and each has a place of its own");

std::string_view to_string(sampler x);

/// Returns the sampler with that name, if any.
std::optional<sampler> parse_sampler(std::string_view name);

/// Returns the web UI's name of a sampler, such as "Euler a".
std::string_view webui_name(sampler x);

/// Returns the sampler that the web UI calls `name`, ignoring case.
std::optional<sampler> parse_webui_sampler(std::string_view name);

/// Returns the sampler of a scheduler_config.json with that _class_name.
std::optional<sampler> parse_diffusers_sampler(std::string_view class_name);

/// Returns the sampler that runs in place of that class, if it has none itself.
std::optional<sampler> find_stand_in(std::string_view class_name);

/// Returns the names of the rows for which `wanted` holds, as "a, b and c".
std::string list_samplers(
  bool sampler_row::*wanted,
  std::string_view sampler_row::*name = &sampler_row::name);

/// Returns whether runs of that sampler can have Karras' spacing of sigmas.
bool has_karras_sigmas(sampler x);

/// Returns whether a model's own wish for that spacing holds for the sampler.
bool obeys_karras(sampler x);

/// Returns how many steps of a schedule of `steps` run at `strength`; these are
/// the last ones. The result is floor(steps x strength). Flow matching rounds
/// up, and LCM runs all if it spreads its steps over the fraction. The
/// result is 0 if no step is left. The product uses the number that `strength`
/// prints as: 0.7 of 10 are 7 steps, although the float next to 0.7 is below
/// it. The web UI's rule is floor(steps x min(strength, .999)) + 1 for samplers
/// with sigmas, and diffusers' for the others.
/// Source: diffusers 0.42, get_timesteps of the StableDiffusionImg2ImgPipeline
///         and of the StableDiffusion3Img2ImgPipeline; LCMScheduler. The web
///         UI's setup_img2img_steps and KDiffusionSampler.sample_img2img.
uint32_t steps_of_share(sampler with, uint32_t steps, float strength,
                        strength_rule rule,
                        share_steps of_all = share_steps::spread);

} // namespace atelier::core
