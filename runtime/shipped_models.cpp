// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/shipped_family.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/runtime/program_folder.hpp>
#include <atelier/runtime/shipped_models.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace atelier::runtime {

namespace {

namespace fs = std::filesystem;

// The file that `atelier evaluate` wrote for the family.
constexpr auto quality_file = "profile.json";

// The network that predicts how much a prompt tolerates.
constexpr auto classifier_folder = "classifier";

// Default number of steps of the test card.
constexpr uint32_t card_steps = 20;

#ifdef ATELIER_WITH_TORCH
constexpr bool runs_models = true;
#else
constexpr bool runs_models = false;
#endif

bool is_there(const fs::path& family, std::string_view model) {
  std::error_code ignored;
  return !family.empty()
      && fs::exists(family / model / "model_index.json", ignored);
}

std::string variant_of(std::string_view model, uint32_t steps,
                       const config::settings& x) {
  return fmt::format("{}@{}", model, std::min(steps, x.limits.steps));
}

// Whether the environment says that there are no models.
bool wants_no_models() {
  const char* const named = std::getenv("ATELIER_MODELS");
  return named != nullptr && std::string_view{named}.empty();
}

bool is_test_card(const std::string& variant) {
  const auto v = planning::parse_variant(variant);
  return v && v->model == config::test_card_model;
}

} // namespace

core::result<config::settings> with_shipped_models(config::settings x,
                                                   const fs::path& family) {
  std::vector<std::string> shipped;
  for (const auto& m : config::shipped_family)
    if (is_there(family, m.name))
      shipped.push_back(variant_of(m.name, m.steps, x));
  for (auto& device : x.devices) {
    auto& variants = device.variants;
    if (device.executor == "auto") {
      // A test card that was not asked for looks like a broken model.
      if (runs_models && variants.empty() && shipped.empty()
          && !wants_no_models())
        return core::fail(core::ec::not_found,
                          "devices: {}: it names no variants, and Atelier's "
                          "own models are {}: name their folder in "
                          "ATELIER_MODELS, a model with --model, or set "
                          "devices[].executor to \"test_card\" for test images",
                          device.name,
                          family.empty() ? "not beside the program"
                                         : "not in " + family.string());
      const bool card =
        variants.empty()
          ? !runs_models || shipped.empty()
          : std::all_of(variants.begin(), variants.end(), is_test_card);
      device.executor = card ? "test_card" : "torch";
    }
    if (!variants.empty())
      continue;
    if (device.executor == "test_card")
      variants = {variant_of(config::test_card_model, card_steps, x)};
    else if (device.executor != "torch")
      return core::fail(core::ec::bad_config,
                        "devices: {}: it names no variants, which the host's "
                        "executor '{}' needs",
                        device.name, device.executor);
    else
      variants = shipped;
    if (variants.empty())
      return core::fail(core::ec::not_found,
                        "devices: {}: it names no variants, and Atelier's own "
                        "models are not beside the program",
                        device.name);
  }
  for (const auto& device : x.devices) {
    if (device.executor != "torch")
      continue;
    for (const auto& name : device.variants) {
      const auto v = planning::parse_variant(name);
      const auto* const own = v ? config::find_shipped(v->model) : nullptr;
      if (own == nullptr
          || std::any_of(x.models.begin(), x.models.end(),
                         [&](const auto& m) { return m.name == v->model; }))
        continue;
      if (!is_there(family, v->model))
        return core::fail(core::ec::not_found,
                          "devices: {}: '{}' is of Atelier's own models, which "
                          "are not beside the program",
                          device.name, name);
      config::model_settings added;
      added.name = v->model;
      added.path = (family / v->model).string();
      added.guidance = own->guidance;
      x.models.push_back(std::move(added));
    }
  }
  const auto hosts_own = std::ranges::any_of(x.models, [&](const auto& m) {
    return config::find_shipped(m.name) != nullptr
        && m.path == (family / m.name).string();
  });
  std::error_code ignored;
  if (hosts_own && x.policy.judges.empty())
    x.policy.judges = family.string();
  if (hosts_own && x.planner.quality.empty()
      && fs::exists(family / quality_file, ignored))
    x.planner.quality = (family / quality_file).string();
  const auto classifier = family / classifier_folder;
  if (hosts_own && x.classifier.folder.empty()
      && fs::exists(classifier / "config.json", ignored))
    x.classifier.folder = classifier.string();
  return x;
}

core::result<config::settings> with_shipped_models(config::settings x) {
  return with_shipped_models(std::move(x), models_folder());
}

} // namespace atelier::runtime
