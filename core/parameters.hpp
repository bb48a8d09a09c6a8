// SPDX-License-Identifier: Apache-2.0
#pragma once

// The plain parameters of a request: numbers, flags and choices that every
// interface reads, refuses, forwards and reports in the same way. All
// interfaces use the table below; it and what its rows refer to are one file,
// which is therefore long. Values made of several fields (size, seed,
// model or variant, images) have their own readers.

#include <atelier/core/enum_count.hpp>
#include <atelier/core/prompt_rules.hpp>
#include <atelier/core/samplers.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace atelier::core {

struct limits;

/// The generator that draws a request's noise.
enum class noise_source : uint8_t {
  /// The values that PyTorch's CPU generator draws for the seed.
  torch_cpu,
  /// The counter-based generator, which is equal on every device.
  philox,
};

inline constexpr std::array<std::string_view, enum_count<noise_source>>
  noise_source_names = {"torch_cpu", "philox"};

/// How a request uses the cache of earlier requests' work.
enum class cache_use : uint8_t {
  off,
  /// The request may start from earlier work and leaves none.
  read,
  /// The request starts from noise and leaves its work for later ones.
  write,
  /// Both.
  on,
};

inline constexpr std::array<std::string_view, enum_count<cache_use>>
  cache_use_names = {"off", "read", "write", "on"};

constexpr bool reads(cache_use x) {
  return x == cache_use::read || x == cache_use::on;
}

constexpr bool writes(cache_use x) {
  return x == cache_use::write || x == cache_use::on;
}

/// Returns the same use without reading.
constexpr cache_use without_reading(cache_use x) {
  return writes(x) ? cache_use::write : cache_use::off;
}

/// The parameters that a client requested; the policy chooses the empty fields.
struct wanted_parameters {
  std::optional<uint32_t> steps;
  std::optional<core::sampler> sampler;
  std::optional<bool> karras;
  std::optional<float> guidance;
  /// Fraction of the schedule that an image-to-image or edit request runs.
  std::optional<float> strength;
  std::optional<float> eta;
  std::optional<float> guidance_rescale;

  friend bool operator==(const wanted_parameters&,
                         const wanted_parameters&) = default;
};

/// The parameters that no policy chooses: the client's values or these
/// defaults.
struct settled_parameters {
  step_spacing spacing = step_spacing::model;
  core::strength_rule strength_rule = core::strength_rule::diffusers;
  noise_source noise = noise_source::torch_cpu;
  prompt_grammar syntax = prompt_grammar::plain;
  emphasis_rule emphasis = emphasis_rule::original;
  /// The layer of the text encoder, counted from the last, that the denoiser
  /// receives.
  uint32_t clip_skip = 1;
  /// Makes images bit-identical regardless of the rest of the batch, also on
  /// devices where batches change bits; restricts routes and bypasses caches.
  bool deterministic = false;
  cache_use cache = cache_use::on;
  /// The lowest similarity of earlier work from which the request may start;
  /// the profile's thresholds hold too.
  float cache_similarity = 0;

  friend bool operator==(const settled_parameters&,
                         const settled_parameters&) = default;
};

/// The parameters that a stage runs with; every choice is made.
struct used_parameters {
  /// Steps of the whole schedule; fewer run if `strength` is below 1.
  uint32_t steps = 0;
  core::sampler sampler = core::sampler::ddim;
  /// Uses Karras' spacing of sigmas if the sampler has sigmas.
  bool karras = false;
  step_spacing spacing = step_spacing::model;
  float guidance = 0;
  /// Fraction of the schedule that runs, above 0, at most 1; 1 if the run does
  /// not start from an image.
  float strength = 1;
  core::strength_rule strength_rule = core::strength_rule::diffusers;
  noise_source noise = noise_source::torch_cpu;
  /// Amount of new noise in DDIM's steps, 0..1.
  float eta = 0;
  /// 0..1: moves the deviation of the guided prediction towards the unguided
  /// one's.
  float guidance_rescale = 0;
  prompt_grammar syntax = prompt_grammar::plain;
  emphasis_rule emphasis = emphasis_rule::original;
  uint32_t clip_skip = 1;
  bool deterministic = false;

  friend bool operator==(const used_parameters&,
                         const used_parameters&) = default;
};

/// The types of parameters that have a range.
template <class T>
concept number = std::is_same_v<T, uint32_t> || std::is_same_v<T, float>;

/// The members that hold a parameter's requested value and its used value.
template <class T>
struct chosen_member {
  using type = T;
  std::optional<T> wanted_parameters::*asked;
  T used_parameters::*used;
};

/// The same members for a parameter that no policy chooses.
template <class T>
struct settled_member {
  using type = T;
  T settled_parameters::*asked;
  T used_parameters::*used;
};

/// The place of a parameter that no stage runs with: only the request has it.
template <class T>
struct request_member {
  using type = T;
  T settled_parameters::*asked;
};

using any_member =
  std::variant<chosen_member<bool>, chosen_member<uint32_t>,
               chosen_member<float>, chosen_member<sampler>,
               settled_member<bool>, settled_member<uint32_t>,
               settled_member<noise_source>, settled_member<prompt_grammar>,
               settled_member<strength_rule>, settled_member<step_spacing>,
               settled_member<emphasis_rule>, request_member<cache_use>,
               request_member<float>>;

template <class T>
inline constexpr bool is_request_member = false;

template <class T>
inline constexpr bool is_request_member<request_member<T>> = true;

/// Returns whether only the request has a parameter, no stage's run.
constexpr bool is_of_request_only(const any_member& x) {
  return std::visit([]<class T>(const T&) { return is_request_member<T>; }, x);
}

/// The group in which the command line's help shows an option.
enum class option_group : uint8_t {
  image,
  expert,
  /// The command line has a reader and a name of its own for the option.
  by_hand,
};

/// States when an image's metadata include a parameter.
enum class telling : uint8_t {
  always,
  /// Only if the run's value differs from the default of `used_parameters`.
  if_changed,
  if_from_image,
};

/// One row of the table of parameters.
struct parameter {
  /// The name in JSON, in the journal and in errors. The option's name follows
  /// from it: --guidance-scale from guidance_scale.
  std::string_view name;
  /// A line for the command line's help, for /openapi.json and for the page.
  std::string_view doc;
  any_member member;
  /// The range of a number.
  double least = 0;
  double most = 1;
  /// Returns the configuration's bound, which replaces `most`.
  double (*bound)(const limits&) = nullptr;
  /// For numbers only: the engine accepts any value above 0, however small.
  /// Interfaces that write the range as LEAST..MOST begin with `least`.
  bool open = false;
  /// A second name in JSON.
  std::string_view also = {};
  /// A third name, LocalAI's; with it 0 counts as omitted.
  std::string_view localai = {};
  /// The value's name in the help: "N".
  std::string_view value = {};
  option_group option = option_group::expert;
  /// The page has an input of its own for the parameter.
  bool page_by_hand = false;
  /// The web UI's name in an image's metadata. If it is empty, the metadata
  /// omit the parameter. `before_seed` puts it before the seed; otherwise it
  /// follows the seed.
  std::string_view webui = {};
  bool before_seed = false;
  /// The text in the metadata for a flag that is set.
  std::string_view webui_true = "True";
  telling told = telling::always;
  /// The parameter's field in the web UI's calls; empty if it has none, or none
  /// of its own.
  std::string_view webui_field = {};
  /// The web UI's calls have a reader of their own for that field.
  bool webui_by_hand = false;
};

// These functions return the configuration's bounds.
double most_steps(const limits& within);
double most_guidance(const limits& within);

/// All parameters, in the order in which they are read and reported.
inline constexpr parameter parameters[] = {
  {.name = "steps",
   .doc = "Denoising steps (default: the policy's)",
   .member = chosen_member<uint32_t>{&wanted_parameters::steps,
                                     &used_parameters::steps},
   .least = 1,
   .bound = most_steps,
   .also = "num_inference_steps",
   .localai = "step",
   .value = "N",
   .option = option_group::image,
   .page_by_hand = true,
   .webui = "Steps",
   .before_seed = true,
   .webui_field = "steps"},
  {.name = "sampler",
   .doc = "Update rule and noise schedule (default: the model's)",
   .member = chosen_member<sampler>{&wanted_parameters::sampler,
                                    &used_parameters::sampler},
   .value = "NAME",
   .page_by_hand = true,
   .webui = "Sampler",
   .before_seed = true},
  {.name = "karras",
   .doc = "Karras' spacing of sigmas, where the sampler has sigmas",
   .member =
     chosen_member<bool>{&wanted_parameters::karras, &used_parameters::karras},
   .webui = "Schedule type",
   .before_seed = true,
   .webui_true = "Karras",
   .told = telling::if_changed},
  {.name = "spacing",
   .doc = "Where the steps lie: model (as the model says, the default), "
          "leading, trailing, linspace (diffusers' timestep_spacing) or "
          "sgm_uniform (the web UI's, for few-step models)",
   .member = settled_member<step_spacing>{&settled_parameters::spacing,
                                          &used_parameters::spacing},
   .value = "SPACING",
   .webui = "Schedule type",
   .before_seed = true,
   .told = telling::if_changed,
   .webui_field = "spacing"},
  {.name = "guidance",
   .doc = "How strongly the prompt counts (default: the model's)",
   .member = chosen_member<float>{&wanted_parameters::guidance,
                                  &used_parameters::guidance},
   .bound = most_guidance,
   .also = "guidance_scale",
   .value = "G",
   .option = option_group::image,
   .page_by_hand = true,
   .webui = "CFG scale",
   .before_seed = true,
   .webui_field = "cfg_scale"},
  {.name = "strength",
   .doc = "With an image: how much to change it, above 0, at most 1",
   .member = chosen_member<float>{&wanted_parameters::strength,
                                  &used_parameters::strength},
   .least = 0.001,
   .open = true,
   .value = "S",
   .option = option_group::by_hand,
   .page_by_hand = true,
   .webui = "Denoising strength",
   .told = telling::if_from_image,
   .webui_field = "denoising_strength",
   .webui_by_hand = true},
  {.name = "strength_rule",
   .doc = "With an image: how a strength counts steps, as diffusers does "
          "(steps x strength) or as webui does, one step more. Default: "
          "diffusers, and webui in the web UI's own calls",
   .member = settled_member<strength_rule>{&settled_parameters::strength_rule,
                                           &used_parameters::strength_rule},
   .value = "RULE",
   .webui = "Strength rule",
   .told = telling::if_changed,
   .webui_field = "strength_rule",
   .webui_by_hand = true},
  {.name = "noise",
   .doc = "The generator of the noise (default: torch_cpu)",
   .member = settled_member<noise_source>{&settled_parameters::noise,
                                          &used_parameters::noise},
   .option = option_group::by_hand,
   .webui = "RNG",
   .webui_field = "noise"},
  {.name = "eta",
   .doc = "Noise added in each step of ddim, 0..1 (default: 0)",
   .member =
     chosen_member<float>{&wanted_parameters::eta, &used_parameters::eta},
   .value = "E",
   .webui = "Eta DDIM",
   .told = telling::if_changed,
   .webui_field = "eta",
   .webui_by_hand = true},
  {.name = "guidance_rescale",
   .doc = "0..1: keeps strong guidance from washing images out (default: 0)",
   .member = chosen_member<float>{&wanted_parameters::guidance_rescale,
                                  &used_parameters::guidance_rescale},
   .value = "R",
   .webui = "CFG Rescale",
   .told = telling::if_changed,
   .webui_field = "guidance_rescale"},
  {.name = "prompt_syntax",
   .doc = "How brackets in prompts are read: plain (as they are) or webui "
          "(weights such as (word:1.3), BREAK, chunks of long prompts). "
          "Default: plain, and webui in the web UI's own calls",
   .member = settled_member<prompt_grammar>{&settled_parameters::syntax,
                                            &used_parameters::syntax},
   .value = "SYNTAX",
   .webui = "Prompt syntax",
   .told = telling::if_changed,
   .webui_field = "prompt_syntax"},
  {.name = "emphasis",
   .doc = "What the weights of words do in webui syntax, which this implies: "
          "original (keeps each chunk's mean, the default), no_norm (does "
          "not), ignore (weights count as 1) or off (brackets are words)",
   .member = settled_member<emphasis_rule>{&settled_parameters::emphasis,
                                           &used_parameters::emphasis},
   .value = "RULE",
   .webui = "Emphasis",
   .told = telling::if_changed,
   .webui_field = "emphasis"},
  {.name = "clip_skip",
   .doc = "The text encoder's layer that the image is drawn from, counted from "
          "the last (default: 1; models with two encoders start at 2)",
   .member = settled_member<uint32_t>{&settled_parameters::clip_skip,
                                      &used_parameters::clip_skip},
   .least = 1,
   .most = 12,
   .value = "N",
   .webui = "Clip skip",
   .told = telling::if_changed,
   .webui_field = "clip_skip"},
  {.name = "deterministic",
   .doc = "The same bits whatever else runs",
   .member = settled_member<bool>{&settled_parameters::deterministic,
                                  &used_parameters::deterministic}},
  {.name = "cache",
   .doc =
     "Use of the cache: off, read (start from earlier images' work), write "
     "(keep this image's work) or on (both). Default: cache.use, but a "
     "seed or deterministic keeps the cache from being read",
   .member = request_member<cache_use>{&settled_parameters::cache},
   .value = "USE",
   .webui_field = "cache"},
  {.name = "cache_similarity",
   .doc = "Start only from earlier images' work whose prompts are at least so "
          "similar, from the profile's threshold to 1 (default: the threshold)",
   .member = request_member<float>{&settled_parameters::cache_similarity},
   .value = "S",
   .webui_field = "cache_similarity"},
};

inline constexpr size_t parameter_count = std::size(parameters);
using parameter_numbers = std::make_index_sequence<parameter_count>;

/// Returns the members that hold parameter I, with their own type.
template <size_t I>
constexpr auto member_of() {
  return std::get<parameters[I].member.index()>(parameters[I].member);
}

/// The parameters that a stage runs with: the first ones of the table.
inline constexpr size_t used_parameter_count =
  static_cast<size_t>(std::count_if(
    std::begin(parameters), std::end(parameters),
    [](const parameter& x) { return !is_of_request_only(x.member); }));
using used_parameter_numbers = std::make_index_sequence<used_parameter_count>;

static_assert(std::all_of(std::begin(parameters) + used_parameter_count,
                          std::end(parameters),
                          [](const parameter& x) {
                            return is_of_request_only(x.member);
                          }),
              "parameters that only a request has come last");

/// Calls f(parameter, member) for each parameter, in order.
template <class F>
constexpr void each_parameter(F&& f) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (f(parameters[I], member_of<I>()), ...);
  }
  (parameter_numbers{});
}

/// Returns the names of a choice's values, by number.
template <class T>
constexpr std::span<const std::string_view> names_of() {
  if constexpr (std::is_same_v<T, sampler>)
    return sampler_names;
  else if constexpr (std::is_same_v<T, cache_use>)
    return cache_use_names;
  else if constexpr (std::is_same_v<T, step_spacing>)
    return step_spacing_names;
  else if constexpr (std::is_same_v<T, strength_rule>)
    return strength_rule_names;
  else if constexpr (std::is_same_v<T, prompt_grammar>)
    return prompt_grammar_names;
  else if constexpr (std::is_same_v<T, emphasis_rule>)
    return emphasis_rule_names;
  else
    return noise_source_names;
}

/// Returns the value of a choice with that name, if any.
template <class T>
std::optional<T> parse_name(std::string_view name) {
  const auto all = names_of<T>();
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] == name)
      return static_cast<T>(i);
  return std::nullopt;
}

/// Returns the largest value that a number may have.
double most_of(const parameter& x, const limits& within);

/// Returns whether a client fixed any parameter that the policy could choose.
bool asks_for_any(const wanted_parameters& x);

/// Copies the requested values into `into`; its other fields stay unchanged.
void take_asked(const wanted_parameters& chosen,
                const settled_parameters& settled, used_parameters& into);

} // namespace atelier::core
