// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/core/ascii.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/runtime/cli/model_option.hpp>
#include <atelier/runtime/cli/model_store.hpp>
#include <atelier/runtime/cli/nearest.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <system_error>

namespace atelier::runtime::cli {

namespace {

namespace fs = std::filesystem;
using core::ec;
using core::fail;

// Returns the suffix for the element type in a variant's name.
core::result<std::string> dtype_suffix(
  const std::optional<std::string>& dtype) {
  if (!dtype)
    return std::string{};
  constexpr std::pair<std::string_view, std::string_view> names[] = {
    {"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}};
  for (const auto& [whole, brief] : names)
    if (*dtype == whole || *dtype == brief)
      return fmt::format("/{}", brief);
  return fail(ec::invalid_argument,
              "--dtype: {} is not one of float32, float16, bfloat16",
              show_value(*dtype));
}

// Returns the name for the model at a path. It has only characters that a
// variant's name may have.
std::string name_for(const fs::path& path) {
  auto at = path.lexically_normal();
  if (!at.has_filename())
    at = at.parent_path();
  auto name = at.extension() == ".safetensors" ? at.stem().string()
                                               : at.filename().string();
  for (auto& c : name)
    if (!core::is_alphanumeric(c) && c != '_' && c != '-' && c != '.')
      c = '-';
  constexpr size_t longest = 64;
  name.resize(std::min(name.size(), longest));
  return name.empty() || name == "." || name == ".." ? "model" : name;
}

std::optional<fs::path> find_path(const std::string& model,
                                  const fs::path& data) {
  std::error_code ignored;
  if (fs::exists(model, ignored))
    return fs::path{model};
  // A name must not lead out of the folder.
  if (data.empty() || model.find('/') != std::string::npos || model == ".."
      || model == ".")
    return std::nullopt;
  for (const auto& at :
       {data / "models" / model, data / "models" / (model + ".safetensors")})
    if (fs::exists(at, ignored))
      return at;
  return std::nullopt;
}

// Returns the steps with which a device runs the model; absent if no device
// hosts it.
std::optional<uint32_t> hosted_steps(const config::settings& known,
                                     std::string_view model) {
  for (const auto& device : known.devices)
    for (const auto& name : device.variants)
      if (const auto v = planning::parse_variant(name); v && v->model == model)
        return v->steps;
  return std::nullopt;
}

core::error unknown_model(const std::string& word,
                          const config::settings& known, const fs::path& data) {
  std::set<std::string> names;
  for (const auto& x : known.models)
    names.insert(x.name);
  for (const auto& device : known.devices)
    for (const auto& name : device.variants)
      if (const auto v = planning::parse_variant(name))
        names.emplace(v->model);
  if (!data.empty())
    if (const auto stored = model_store{data}.list())
      for (const auto& x : *stored)
        names.insert(name_from(x.path));
  const std::vector<std::string> all{names.begin(), names.end()};
  auto close = near(core::lower_case(word), all);
  if (close.empty())
    close = near(word, all);
  return fail(
    ec::not_found,
    "--model: {} is not a known model{}; known models: {}; a folder or file of "
    "a model is also accepted",
    show_value(word),
    close.empty() ? "" : fmt::format("; the nearest is '{}'", close),
    fmt::join(all, ", "));
}

} // namespace

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

core::result<model_overrides> read_model_option(
  const model_choice& chosen, const config::settings& known,
  const std::filesystem::path& data) {
  model_overrides out;
  out.model = chosen.model;
  if (chosen.device) {
    // The first device of a kind may be named by its kind alone.
    const bool kind = *chosen.device == "cpu" || *chosen.device == "cuda";
    out.set.push_back("devices[0].name="
                      + toml_string(*chosen.device + (kind ? ":0" : "")));
    // The device is checked separately, because other faults are reported under
    // their own keys.
    if (const auto read = config::parse({}, "--device", out.set); !read)
      return fail(ec::invalid_argument, "--device: {}",
                  read.faults.front().text);
  }
  const auto suffix = dtype_suffix(chosen.dtype);
  if (!suffix)
    return suffix.why();
  if (!chosen.model) {
    if (chosen.dtype)
      return fail(ec::invalid_argument,
                  "--dtype needs --model, which is missing");
    return out;
  }
  const auto is_it = [&](const auto& x) { return x.name == *chosen.model; };
  const auto configured =
    std::find_if(known.models.begin(), known.models.end(), is_it);
  config::model_settings model;
  if (configured != known.models.end()) {
    model = *configured;
  } else {
    if (hosted_steps(known, *chosen.model))
      return out;
    const auto path = find_path(*chosen.model, data);
    if (!path)
      return unknown_model(*chosen.model, known, data);
    std::error_code ignored;
    model.path = fs::absolute(*path, ignored).string();
    model.name = name_for(model.path);
    out.set.push_back(fmt::format("models=[{{name={},path={}}}]",
                                  toml_string(model.name),
                                  toml_string(model.path)));
  }
  out.model = model.name;
  const auto files = gpu::open_model(model.path, file_options_of(model));
  if (!files)
    return fail(files.why().code, "--model: {}", files.why().text);
  const auto facts = gpu::facts_of(*files);
  if (!facts)
    return fail(facts.why().code, "--model: {}", facts.why().text);
  out.set.emplace_back("devices[0].executor=torch");
  out.set.push_back(
    fmt::format("devices[0].variants=[{}]",
                toml_string(fmt::format(
                  "{}@{}{}", model.name,
                  chosen.steps.value_or(
                    hosted_steps(known, model.name).value_or(facts->steps)),
                  *suffix))));
  return out;
}

} // namespace atelier::runtime::cli
