// SPDX-License-Identifier: Apache-2.0
// Keys and their meaning: diffusers 0.42, the __init__ of the schedulers named
// in schedule.hpp.
#include <atelier/gpu/models/files/foreign_json.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

namespace atelier::gpu {

namespace {

using core::ec;
using core::fail;
using core::sampler;
using nlohmann::json;

/// The allowed values of a key; empty if the value was accepted.
using verdict = std::string_view;

/// Reads one key.
struct rule {
  std::string_view key;
  verdict (*read)(const json& value, scheduler_config& into);
};

template <class T, size_t N>
bool read_name(const json& value, T& into,
               const std::array<std::pair<std::string_view, T>, N>& names) {
  if (!value.is_string())
    return false;
  const auto& text = value.get_ref<const std::string&>();
  for (const auto& [name, x] : names)
    if (name == text) {
      into = x;
      return true;
    }
  return false;
}

/// Python treats None as False.
bool read_bool(const json& value, bool& into) {
  if (!value.is_boolean() && !value.is_null())
    return false;
  into = value.is_boolean() && value.get<bool>();
  return true;
}

bool read_bool(const json& value, std::optional<bool>& into) {
  into.emplace();
  return read_bool(value, *into);
}

template <class T>
bool read_whole(const json& value, T& into, uint64_t least, uint64_t most) {
  if (!value.is_number_unsigned())
    return false;
  const auto x = value.get<uint64_t>();
  into = static_cast<T>(x);
  return x >= least && x <= most;
}

/// Reads a number above 0 and at most `most`.
bool read_positive(const json& value, double& into, double most) {
  if (!value.is_number())
    return false;
  into = value.get<double>();
  return into > 0 && into <= most;
}

bool read_beta(const json& value, double& into) {
  return read_positive(value, into, 1) && into < 1;
}

bool is_false(const json& value) {
  bool x = true;
  return read_bool(value, x) && !x;
}

bool is_text(const json& value, std::string_view text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}

verdict want(bool taken, verdict range) {
  return taken ? verdict{} : range;
}

verdict read_betas(const json& value, scheduler_config& into) {
  constexpr verdict range = "null or numbers above 0 and below 1";
  into.trained_betas.clear();
  if (value.is_null())
    return {};
  if (!value.is_array() || value.empty())
    return range;
  for (const json& x : value)
    if (!read_beta(x, into.trained_betas.emplace_back()))
      return range;
  return {};
}

constexpr std::array beta_names = {
  std::pair{std::string_view{"linear"}, beta_schedule::linear},
  std::pair{std::string_view{"scaled_linear"}, beta_schedule::scaled_linear},
  std::pair{std::string_view{"squaredcos_cap_v2"},
            beta_schedule::squaredcos_cap_v2}};

constexpr std::array prediction_names = {
  std::pair{std::string_view{"epsilon"}, prediction::epsilon},
  std::pair{std::string_view{"v_prediction"}, prediction::v_prediction},
  std::pair{std::string_view{"sample"}, prediction::sample}};

constexpr std::array spacing_names = {
  std::pair{std::string_view{"leading"}, timestep_spacing::leading},
  std::pair{std::string_view{"trailing"}, timestep_spacing::trailing},
  std::pair{std::string_view{"linspace"}, timestep_spacing::linspace}};

constexpr std::array interpolation_names = {
  std::pair{std::string_view{"linear"}, sigma_interpolation::linear},
  std::pair{std::string_view{"log_linear"}, sigma_interpolation::log_linear}};

constexpr std::array timestep_names = {
  std::pair{std::string_view{"discrete"}, timestep_kind::discrete},
  std::pair{std::string_view{"continuous"}, timestep_kind::continuous}};

/// Keys that the plans use.
constexpr rule values[] = {
  {"num_train_timesteps",
   [](const json& x, scheduler_config& c) {
     return want(read_whole(x, c.num_train_timesteps, 1, 100'000), "1..100000");
   }},
  {"beta_start",
   [](const json& x, scheduler_config& c) {
     return want(read_beta(x, c.beta_start.emplace()), "above 0, below 1");
   }},
  {"beta_end",
   [](const json& x, scheduler_config& c) {
     return want(read_beta(x, c.beta_end.emplace()), "above 0, below 1");
   }},
  {"beta_schedule",
   [](const json& x, scheduler_config& c) {
     return want(read_name(x, c.betas.emplace(), beta_names),
                 "linear, scaled_linear, squaredcos_cap_v2");
   }},
  {"trained_betas", read_betas},
  {"prediction_type",
   [](const json& x, scheduler_config& c) {
     return want(read_name(x, c.predicts, prediction_names),
                 "epsilon, v_prediction, sample");
   }},
  {"timestep_spacing",
   [](const json& x, scheduler_config& c) {
     return want(read_name(x, c.spacing.emplace(), spacing_names),
                 "leading, trailing, linspace");
   }},
  {"steps_offset",
   [](const json& x, scheduler_config& c) {
     return want(read_whole(x, c.steps_offset, 0, 99'999), "0..99999");
   }},
  {"set_alpha_to_one",
   [](const json& x, scheduler_config& c) {
     return want(read_bool(x, c.set_alpha_to_one), "false, true");
   }},
  {"clip_sample",
   [](const json& x, scheduler_config& c) {
     return want(read_bool(x, c.clip_sample), "false, true");
   }},
  {"clip_sample_range",
   [](const json& x, scheduler_config& c) {
     return want(read_positive(x, c.clip_sample_range, 1e6),
                 "above 0, at most 1e6");
   }},
  {"rescale_betas_zero_snr",
   [](const json& x, scheduler_config& c) {
     return want(read_bool(x, c.rescale_betas_zero_snr), "false, true");
   }},
  {"use_karras_sigmas",
   [](const json& x, scheduler_config& c) {
     return want(read_bool(x, c.use_karras_sigmas), "false, true");
   }},
  {"interpolation_type",
   [](const json& x, scheduler_config& c) {
     return want(read_name(x, c.interpolation_type, interpolation_names),
                 "linear, log_linear");
   }},
  {"timestep_type",
   [](const json& x, scheduler_config& c) {
     return want(read_name(x, c.timestep_type, timestep_names),
                 "discrete, continuous");
   }},
  {"original_inference_steps",
   [](const json& x, scheduler_config& c) {
     return want(read_whole(x, c.original_inference_steps, 1, 100'000),
                 "1..100000");
   }},
  {"timestep_scaling",
   [](const json& x, scheduler_config& c) {
     return want(read_positive(x, c.timestep_scaling, 1e6),
                 "above 0, at most 1e6");
   }},
  {"shift",
   [](const json& x, scheduler_config& c) {
     return want(read_positive(x, c.shift, 1000), "above 0, at most 1000");
   }},
};

/// Keys for which only the default is supported.
constexpr std::string_view must_be_false[] = {
  "thresholding",         "use_exponential_sigmas", "use_beta_sigmas",
  "use_lu_lambdas",       "use_flow_sigmas",        "euler_at_final",
  "use_dynamic_shifting", "invert_sigmas",          "stochastic_sampling",
};

constexpr std::string_view must_be_null[] = {"sigma_min", "sigma_max",
                                             "shift_terminal"};

constexpr std::pair<std::string_view, std::string_view> must_be_text[] = {
  {"final_sigmas_type", "zero"},
  {"algorithm_type", "dpmsolver++"},
  {"solver_type", "midpoint"},
  {"lambda_min_clipped", "-Infinity"},
};

/// Keys that have no effect unless a key above differs from its default, or
/// that a file keeps from a PNDM scheduler.
constexpr std::string_view without_effect[] = {
  "skip_prk_steps",    "dynamic_thresholding_ratio",
  "sample_max_value",  "flow_shift",
  "base_shift",        "max_shift",
  "time_shift_type",   "base_image_seq_len",
  "max_image_seq_len",
};

bool holds(std::span<const std::string_view> list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

/// Reads the keys of DPM-Solver whose default is not of the kinds above.
verdict read_solver(std::string_view key, const json& value, bool& known) {
  if (key == "solver_order")
    return want(value.is_number_unsigned() && value.get<uint64_t>() == 2, "2");
  if (key == "lower_order_final")
    return want(value.is_boolean() && value.get<bool>(), "true");
  if (key == "variance_type") {
    const bool learned =
      value.is_string()
      && value.get_ref<const std::string&>().starts_with("learned");
    return want(value.is_null() || (value.is_string() && !learned),
                "null, or a variance that is not learned");
  }
  known = false;
  return {};
}

verdict read_key(std::string_view key, const json& value,
                 scheduler_config& into, bool& known) {
  for (const auto& [name, read] : values)
    if (name == key)
      return read(value, into);
  // A class with a stand-in has settings for its own steps, which do not run.
  if (!into.stands_in_for.empty() && key != "variance_type")
    return {};
  if (holds(must_be_false, key))
    return want(is_false(value), "false");
  if (holds(must_be_null, key))
    return want(value.is_null(), "null");
  for (const auto& [name, text] : must_be_text)
    if (name == key)
      return want(is_text(value, text), text);
  if (holds(without_effect, key))
    return {};
  return read_solver(key, value, known);
}

std::string class_names() {
  std::string out;
  const auto add = [&](std::string_view name) {
    out += (out.empty() ? "" : ", ") + std::string{name};
  };
  for (const auto& row : core::samplers)
    add(row.diffusers);
  for (const auto& x : core::stand_ins)
    add(x.diffusers);
  return out;
}

core::result<void> read_class(const json& root, std::string_view where,
                              scheduler_config& into) {
  const auto name = root.find("_class_name");
  if (name == root.end())
    return fail(ec::bad_config, "{}: _class_name is missing", where);
  if (name->is_string()) {
    const auto& text = name->get_ref<const std::string&>();
    if (const auto x = core::parse_diffusers_sampler(text)) {
      into.sampler = *x;
      return {};
    }
    if (const auto x = core::find_stand_in(text)) {
      into.sampler = *x;
      into.stands_in_for = text;
      return {};
    }
  }
  return fail(ec::bad_config,
              "{}: _class_name {} is not supported; supported: {}", where,
              detail::shown(*name), class_names());
}

core::result<void> check_together(const scheduler_config& config,
                                  std::string_view where) {
  const auto train = config.num_train_timesteps;
  if (!config.trained_betas.empty() && config.trained_betas.size() != train)
    return fail(ec::bad_config,
                "{}: trained_betas has {} values, num_train_timesteps is {}",
                where, config.trained_betas.size(), train);
  if (static_cast<uint32_t>(config.steps_offset) >= train)
    return fail(ec::bad_config, "{}: steps_offset {} outside 0..{}", where,
                config.steps_offset, train - 1);
  if (config.sampler == sampler::lcm && config.original_inference_steps > train)
    return fail(ec::bad_config,
                "{}: original_inference_steps {} outside 1..{} "
                "(num_train_timesteps)",
                where, config.original_inference_steps, train);
  return {};
}

} // namespace

core::result<scheduler_config> parse_scheduler(std::string_view text,
                                               std::string_view where) {
  const auto parsed = detail::parse_object(text, where);
  if (!parsed)
    return fail(ec::bad_config, "{}", parsed.why().text);
  const auto& root = *parsed;
  scheduler_config out;
  if (auto ok = read_class(root, where, out); !ok)
    return ok.why();
  for (const auto& [key, value] : root.items()) {
    if (key.starts_with('_'))
      continue;
    bool known = true;
    const auto range = read_key(key, value, out, known);
    if (!known)
      return fail(ec::bad_config, "{}: key {} is not known", where,
                  detail::shown(json(key)));
    if (!range.empty())
      return fail(ec::bad_config, "{}: {} is {}; supported: {}", where, key,
                  detail::shown(value), range);
  }
  if (row_of(out.sampler).matches_flow)
    out.predicts = prediction::flow;
  if (auto ok = check_together(out, where); !ok)
    return ok.why();
  return out;
}

} // namespace atelier::gpu
