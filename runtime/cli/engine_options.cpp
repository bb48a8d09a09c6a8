// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/policies/fixed/fixed.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/runtime/cli/engine_options.hpp>
#include <atelier/runtime/cli/model_option.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/shipped_models.hpp>

#include <algorithm>
#include <tuple>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

/// Returns the overrides of the options that have a key of their own.
result<std::vector<std::string>> read_words(const engine_arguments& arguments,
                                            const common_arguments& common) {
  auto overrides = read_common(common);
  if (!overrides)
    return overrides;
  if (arguments.policy) {
    if (auto ok = check_text("--policy", *arguments.policy, 256); !ok)
      return ok.why();
    if (*arguments.policy != planning::fixed_name
        && *arguments.policy != planning::automatic_name)
      if (const auto known = planning::make_policy(*arguments.policy); !known)
        return fail(ec::invalid_argument, "--policy: {}", known.why().text);
    overrides->push_back("policy.name=" + toml_string(*arguments.policy));
  }
  if (arguments.processes) {
    if (auto ok = check_choice("--processes", *arguments.processes); !ok)
      return ok.why();
    overrides->push_back("processes.mode=" + toml_string(*arguments.processes));
  }
  return overrides;
}

/// Returns the faults as an error that names the option from which a faulty
/// value came.
core::error by_option(std::vector<config::fault> faults,
                      const engine_arguments& arguments) {
  const std::tuple<const char*, const char*, bool> options[] = {
    {"--device", "devices[0].name", arguments.device.has_value()},
    {"--policy", "policy.name", arguments.policy.has_value()},
    {"--model", "devices[0].variants", arguments.model.has_value()}};
  for (auto& fault : faults)
    for (const auto& [option, key, given] : options)
      if (given && fault.source == "--set" && fault.key == key) {
        fault.source = option;
        fault.key.clear();
      }
  return config::to_error(faults);
}

} // namespace

result<chosen_engine> read_engine_options(const engine_arguments& arguments,
                                          const common_arguments& common) {
  auto overrides = read_words(arguments, common);
  if (!overrides)
    return overrides.why();
  chosen_engine out;
  out.engine.config_file = common.config.value_or("");
  out.engine.set = std::move(*overrides);
  if (arguments.timeline) {
    if (auto ok = check_text("--timeline", *arguments.timeline, 4096); !ok)
      return ok.why();
    if (arguments.timeline->empty())
      return fail(ec::invalid_argument, "--timeline: '' names no file");
    out.engine.timeline = *arguments.timeline;
  }
  auto& set = out.engine.set;
  auto loaded = config::load(out.engine.config_file, set);
  for (const auto& x : arguments.defaults)
    if (const auto& given = loaded.given;
        std::find(given.begin(), given.end(), x.substr(0, x.find('=')))
        == given.end())
      set.push_back(x);
  if (!arguments.defaults.empty())
    loaded = config::load(out.engine.config_file, set);
  if (loaded && (arguments.model || arguments.device || arguments.dtype)) {
    // A named model needs none of the shipped ones.
    const auto known = with_shipped_models(loaded.values);
    if (!known && !arguments.model)
      return known.why();
    const auto chosen = read_model_option(
      {arguments.model, arguments.device, arguments.dtype, {}},
      known ? *known : loaded.values, data_folder(common));
    if (!chosen)
      return chosen.why();
    out.model = chosen->model;
    set.insert(set.end(), chosen->set.begin(), chosen->set.end());
    loaded = config::load(out.engine.config_file, set);
  }
  if (!loaded)
    return by_option(std::move(loaded.faults), arguments);
  auto settings = with_shipped_models(std::move(loaded.values));
  if (!settings)
    return settings.why();
  out.settings = std::move(*settings);
  return out;
}

} // namespace atelier::runtime::cli
