// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/planning/policies/nirvana/step_choice.hpp>
#include <atelier/runtime/cli/model_option.hpp>
#include <atelier/runtime/profile_of.hpp>
#include <atelier/runtime/program_folder.hpp>
#include <atelier/runtime/shipped_models.hpp>
#include <atelier/training/program/reuse_study/study_plan.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace atelier::runtime::reuse_study {

namespace {

using core::ec;
using core::fail;
using core::result;

constexpr uint32_t capture_slots = 16;
constexpr uint64_t most_entries = 10'000'000;

/// No search is left out because it is late, and no disk because it is slow.
constexpr uint32_t facts_ms = 60'000;
constexpr uint32_t disk_wait_ms = 60'000;

/// The time of a search in plans, until one was measured.
constexpr core::timespan retrieval = std::chrono::milliseconds{10};

bool is_there(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

/// A configuration with the shipped models.
struct loaded_settings {
  config::settings values;
  /// The configuration says how prompts are compared.
  bool names_encoder = false;
};

result<loaded_settings> load(const std::string& file,
                             const std::vector<std::string>& set) {
  auto loaded = config::load(file, set);
  if (!loaded)
    return config::to_error(loaded.faults);
  auto values = with_shipped_models(std::move(loaded.values));
  if (!values)
    return values.why();
  return loaded_settings{std::move(*values),
                         std::ranges::find(loaded.given, "cache.encoder")
                           != loaded.given.end()};
}

/// Returns the folder of the shipped encoder; empty if it is missing, or the
/// program cannot run it.
std::string shipped_encoder() {
#ifdef ATELIER_WITH_TORCH
  if (const auto folder = models_folder() / "scorer";
      is_there(folder / "config.json"))
    return folder.string();
#endif
  return {};
}

bool has(const study_plan& plan, asked_for request) {
  return std::ranges::any_of(
    plan.systems, [&](const auto* x) { return x->request == request; });
}

bool has(const study_plan& plan, found_entries found) {
  return std::ranges::any_of(plan.systems,
                             [&](const auto* x) { return x->found == found; });
}

bool has(const study_plan& plan, std::string_view name) {
  return std::ranges::any_of(plan.systems,
                             [&](const auto* x) { return x->name == name; });
}

/// Checks what the systems of a plan need.
result<void> check_needs(const study_plan& plan, const study_setup& made,
                         const known_variants& known) {
  const auto& variant = made.variant();
  if (planning::scaled_to(planning::nirvana::published_table(),
                          planning::table_steps, variant.steps)
        .empty())
    return fail(ec::invalid_argument,
                "--variants: {} has no steps to skip: at least 2 are needed",
                variant.name);
  const bool is_card = known.schedules[made.full.value] == nullptr;
  const bool draws_scenes =
    is_card
    || known.traits[made.full.value].captions == gpu::caption_kind::scenes;
  if (plan.texts.empty() && !draws_scenes)
    return fail(ec::invalid_argument,
                "--texts is missing: '{}' draws other texts than the captions "
                "of Atelier's own models",
                variant.name);
  if (const auto needed = uint64_t{plan.warm} + plan.measured;
      !plan.texts.empty() && plan.texts.size() < needed)
    return fail(ec::invalid_argument,
                "--texts: {} texts are too few: {} fill the cache and {} are "
                "measured",
                plan.texts.size(), plan.warm, plan.measured);
  if (has(plan, asked_for::turbo) && plan.turbo.empty())
    return fail(ec::invalid_argument,
                "--systems: turbo needs --turbo MODEL@STEPS");
  if (has(plan, "small-model") && plan.small.empty())
    return fail(ec::invalid_argument,
                "--systems: small-model needs --small MODEL@STEPS");
  if (has(plan, found_entries::by_image) && made.scorer.empty())
    return fail(ec::invalid_argument,
                "--systems: crs compares prompts with images, and {} has no "
                "scorer (policy.judges)",
                made.settings.policy.judges.empty()
                  ? "the configuration"
                  : made.settings.policy.judges);
  for (const auto* x : plan.systems)
    if (x->follows_nirvana() && !has(plan, "nirvana"))
      return fail(ec::invalid_argument,
                  "--systems: {} does as much as nirvana, which is not among "
                  "the systems",
                  x->name);
  return {};
}

} // namespace

std::vector<study_request> requests_of(const study_plan& plan) {
  const auto count = size_t{plan.warm} + plan.measured;
  std::vector<study_request> out;
  if (plan.texts.empty()) {
    for (auto& x : gpu::draw_sessions(plan.seed, count))
      out.push_back({std::move(x.said.text), x.seed, x.session,
                     std::string{gpu::to_string(x.change)},
                     std::move(x.said.says)});
    return out;
  }
  for (size_t i = 0; i < count; ++i) {
    core::philox from{plan.seed, core::purpose::sampling,
                      core::request_id{i + 1}};
    out.push_back({plan.texts[i], from.next_u32(), i, {}, std::nullopt});
  }
  return out;
}

result<study_setup> read_setup(const study_plan& plan) {
  study_setup out;
  out.set = plan.set;
  std::vector<std::string> variants{cli::toml_string(plan.variant)};
  for (const auto& x : {plan.small, plan.turbo})
    if (!x.empty())
      variants.push_back(cli::toml_string(x));
  out.set.push_back(
    fmt::format("devices[0].variants=[{}]", fmt::join(variants, ",")));
  auto loaded = load(plan.config_file, out.set);
  if (!loaded)
    return loaded.why();
  auto* const settings = &loaded->values;
  if (settings->devices.size() != 1)
    return fail(ec::invalid_argument,
                "devices: {} are configured; requests that follow each other "
                "use one",
                settings->devices.size());
  if (settings->arena.capture_slots < capture_slots)
    out.set.push_back(fmt::format("arena.capture_slots={}", capture_slots));
  out.set.push_back(fmt::format("scheduler.facts_ms={}", facts_ms));
  for (const char* wait : {"disk_wait_ms", "disk_write_wait_ms"})
    out.set.push_back(fmt::format("cache.{}={}", wait, disk_wait_ms));
  out.set.push_back(fmt::format("cache.entries={}", most_entries));
  out.set.emplace_back("cache.answers=0");
  const auto known = know_variants(*settings);
  if (!known)
    return known.why();
  out.settings = std::move(*settings);
  out.costs = known->costs;
  const auto find = [&](const std::string& name) {
    return planning::find_variant(out.costs, name);
  };
  out.full = find(plan.variant).value();
  if (!out.costs.reuse || out.costs.reuse->full != out.full) {
    out.costs.reuse.emplace();
    out.costs.reuse->full = out.full;
  }
  auto& reuse = *out.costs.reuse;
  reuse.small.clear();
  if (!plan.small.empty())
    reuse.small.push_back(find(plan.small).value());
  if (reuse.retrieval.count() == 0)
    reuse.retrieval = retrieval;
  out.px = plan.px.width > 0 ? plan.px : out.variant().native_px;
  out.tower =
    loaded->names_encoder ? out.settings.cache.encoder : shipped_encoder();
  if (const auto scorer =
        std::filesystem::path{out.settings.policy.judges} / "scorer";
      !out.settings.policy.judges.empty() && is_there(scorer / "config.json"))
    out.scorer = scorer;
  if (auto ok = check_needs(plan, out, *known); !ok)
    return ok.why();
  return out;
}

} // namespace atelier::runtime::reuse_study
