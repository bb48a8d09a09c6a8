// SPDX-License-Identifier: Apache-2.0
#pragma once

// The plain parameters of a request: numbers, flags and choices that every door
// reads, refuses, passes on and tells in the same way. All of them walk the one
// table below. What is made of several fields (size, seed, model or variant,
// images) has readers of its own.

#include <atelier/core/enum_count.hpp>
#include <atelier/core/samplers.hpp>

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
  /// What PyTorch's CPU generator draws for the seed.
  torch_cpu,
  /// The counter-based generator, equal on every device.
  philox,
};

inline constexpr std::array<std::string_view, enum_count<noise_source>>
  noise_source_names = {"torch_cpu", "philox"};

/// What a client asked for; an empty field is the policy's to choose.
struct wanted_parameters {
  std::optional<uint32_t> steps;
  std::optional<sampler> with;
  std::optional<bool> karras;
  std::optional<float> guidance;
  /// Share of the schedule that an image-to-image or edit request runs.
  std::optional<float> strength;
  std::optional<float> eta;
  std::optional<float> guidance_rescale;

  friend bool operator==(const wanted_parameters&,
                         const wanted_parameters&) = default;
};

/// What no policy chooses: it is as the client says, or as here.
struct settled_parameters {
  noise_source noise = noise_source::torch_cpu;
  /// Bit-identical pictures whatever else is in the batch; restricts routes
  /// and bypasses caches.
  bool deterministic = false;

  friend bool operator==(const settled_parameters&,
                         const settled_parameters&) = default;
};

/// What a stage runs with: every choice made.
struct used_parameters {
  /// Steps of the whole schedule; with `strength` below 1 fewer run.
  uint32_t steps = 0;
  sampler with = sampler::ddim;
  /// Karras' spacing of sigmas, where the sampler has sigmas.
  bool karras = false;
  float guidance = 0;
  /// Share of the schedule that runs, above 0, at most 1; 1 where the run does
  /// not start from a picture.
  float strength = 1;
  noise_source noise = noise_source::torch_cpu;
  /// Fresh noise of DDIM's steps, 0..1.
  float eta = 0;
  /// 0..1: pulls the guided prediction's deviation to the unguided one's.
  float guidance_rescale = 0;
  bool deterministic = false;

  friend bool operator==(const used_parameters&,
                         const used_parameters&) = default;
};

/// The types of parameters that have a range.
template <class T>
concept number = std::is_same_v<T, uint32_t> || std::is_same_v<T, float>;

/// Where a parameter stands in what is wanted and in what is used.
template <class T>
struct chosen_member {
  using type = T;
  std::optional<T> wanted_parameters::*asked;
  T used_parameters::*used;
};

/// The same of one that no policy chooses.
template <class T>
struct settled_member {
  using type = T;
  T settled_parameters::*asked;
  T used_parameters::*used;
};

using any_member =
  std::variant<chosen_member<bool>, chosen_member<uint32_t>,
               chosen_member<float>, chosen_member<sampler>,
               settled_member<bool>, settled_member<noise_source>>;

/// Where the command line's help shows an option.
enum class option_group : uint8_t {
  image,
  expert,
  /// The command line has a reader and a name of its own for it.
  by_hand,
};

/// When a picture's metadata tell a parameter.
enum class telling : uint8_t {
  always,
  /// Where a run has another value than `used_parameters` begins with.
  if_changed,
  if_from_image,
};

/// One parameter.
struct parameter {
  /// In JSON, in the journal and in errors. The option follows:
  /// --guidance-scale of guidance_scale.
  std::string_view name;
  /// A line for the command line's help, for /openapi.json and for the page.
  std::string_view doc;
  any_member at;
  /// Numbers alone: the range.
  double least = 0;
  double most = 1;
  /// The configuration's bound in place of `most`.
  double (*bound)(const limits&) = nullptr;
  /// Numbers alone: any above 0 is good for the engine, however small; doors
  /// that write the range as LEAST..MOST begin with `least`.
  bool open = false;
  /// A second name in JSON.
  std::string_view also = {};
  /// A third, LocalAI's, whose 0 counts as left out.
  std::string_view localai = {};
  /// The value's name in the help: "N".
  std::string_view value = {};
  option_group option = option_group::expert;
  /// The page has an input of its own for it.
  bool page_by_hand = false;
  /// The web UI's name in a picture's metadata, before the seed or behind it;
  /// empty: it is not told.
  std::string_view webui = {};
  bool before_seed = false;
  /// What a flag that is set is told as.
  std::string_view webui_true = "True";
  telling told = telling::always;
  /// Its field in the web UI's calls; empty: it has none, or none alone.
  std::string_view webui_field = {};
  /// The web UI's calls have a reader of their own for that field.
  bool webui_by_hand = false;
};

// The configuration's bounds.
double most_steps(const limits& within);
double most_guidance(const limits& within);

/// Every parameter, in the order in which they are read and told.
inline constexpr parameter parameters[] = {
  {.name = "steps",
   .doc = "Denoising steps (default: the policy's)",
   .at = chosen_member<uint32_t>{&wanted_parameters::steps,
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
   .at =
     chosen_member<sampler>{&wanted_parameters::with, &used_parameters::with},
   .value = "NAME",
   .page_by_hand = true,
   .webui = "Sampler",
   .before_seed = true},
  {.name = "karras",
   .doc = "Karras' spacing of sigmas, where the sampler has sigmas",
   .at =
     chosen_member<bool>{&wanted_parameters::karras, &used_parameters::karras},
   .webui = "Schedule type",
   .before_seed = true,
   .webui_true = "Karras",
   .told = telling::if_changed},
  {.name = "guidance",
   .doc = "How strongly the prompt counts (default: the model's)",
   .at = chosen_member<float>{&wanted_parameters::guidance,
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
   .at = chosen_member<float>{&wanted_parameters::strength,
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
  {.name = "noise",
   .doc = "The generator of the noise (default: torch_cpu)",
   .at = settled_member<noise_source>{&settled_parameters::noise,
                                      &used_parameters::noise},
   .option = option_group::by_hand,
   .webui = "RNG",
   .webui_field = "noise"},
  {.name = "eta",
   .doc = "Noise added in each step of ddim, 0..1 (default: 0)",
   .at = chosen_member<float>{&wanted_parameters::eta, &used_parameters::eta},
   .value = "E",
   .webui = "Eta DDIM",
   .told = telling::if_changed,
   .webui_field = "eta",
   .webui_by_hand = true},
  {.name = "guidance_rescale",
   .doc = "0..1: keeps strong guidance from washing images out (default: 0)",
   .at = chosen_member<float>{&wanted_parameters::guidance_rescale,
                              &used_parameters::guidance_rescale},
   .value = "R",
   .webui = "CFG Rescale",
   .told = telling::if_changed,
   .webui_field = "guidance_rescale"},
  {.name = "deterministic",
   .doc = "The same bits whatever else runs",
   .at = settled_member<bool>{&settled_parameters::deterministic,
                              &used_parameters::deterministic}},
};

inline constexpr size_t parameter_count = std::size(parameters);
using parameter_numbers = std::make_index_sequence<parameter_count>;

/// Returns where parameter I stands, by its own type.
template <size_t I>
constexpr auto member_of() {
  return std::get<parameters[I].at.index()>(parameters[I].at);
}

/// Calls f(parameter, member) for each, in order.
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
  else
    return noise_source_names;
}

/// Returns the value of a choice that has that name, if there is one.
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

/// Returns whether a client fixed any that is else the policy's to choose.
bool asks_for_any(const wanted_parameters& x);

/// Takes over what was asked for; the other fields stay.
void take_asked(const wanted_parameters& chosen,
                const settled_parameters& settled, used_parameters& into);

} // namespace atelier::core
