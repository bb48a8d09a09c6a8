// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/stages/standard.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/samplers/schedule.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace atelier::runtime {

/// The facts of the configured variants before a model is loaded.
struct known_variants {
  planning::profile costs;
  /// The noise schedule of each variant's model, by variant; null for the test
  /// card, which accepts all parameters.
  std::vector<std::shared_ptr<const gpu::scheduler_config>> schedules;
  /// The model's preferred parameters, by variant.
  std::vector<gpu::model_traits> traits;
  /// The most that clip_skip may be, by variant; 0: the model accepts any.
  std::vector<uint32_t> text_layers;
};

/// What to do with a model whose files cannot be read.
enum class unreadable : uint8_t {
  /// The result is the error.
  refused,
  /// Its variants have their names and no measured memory: a device that loads
  /// them reads the files again.
  named,
};

/// The stages that a host adds.
using own_stages = std::vector<actors::added_stage>;

/// Returns the facts of the variants that the devices of `x` host, in the order
/// of their first mention: the same in every process that reads the same
/// settings, so that variant_id means the same everywhere. Models are opened
/// for their configurations; no weights are read. Kinds of device whose costs
/// differ, by `devices[].profile` or by the estimate, are listed with them.
/// @pre `x` is valid (config::validate)
/// @param own the host's stages, which profiles may name
/// Errors: those of gpu::open_model and gpu::facts_of, with the model's name;
/// ec::bad_config if a profile measures a stage that does not exist.
core::result<known_variants> know_variants(
  const config::settings& x, unreadable models = unreadable::refused,
  const own_stages& own = {});

/// Returns the variants' profile for planning: see know_variants.
core::result<planning::profile> profile_of(
  const config::settings& x, unreadable models = unreadable::refused,
  const own_stages& own = {});

/// Returns the policy that settings name: one of planning::all_policies, a
/// host's own, `fixed` by the plan in `planner.plan`, or for "auto" the choice
/// of planning::policy_for.
/// @param known the facts of the variants that `x` hosts
/// @param own the result of host_policies
/// @param found_by what the cache compares prompts with; none: what
///        cache.compares says
/// @param is_host_cache whether the cache is a host's, which may compare
/// prompts
///        by anything
/// Errors: ec::bad_config for an unknown name, a plan without `fixed`, `fixed`
/// without a plan, a missing judge, or thresholds of something else than the
/// cache compares, or published ones where it compares words; those of
/// core::read_text_file and planning::parse_plan.
core::result<planning::policy_ptr> policy_of(
  const config::settings& x, const planning::profile& known,
  const planning::policy_list& own = {},
  std::optional<planning::compared> found_by = {}, bool is_host_cache = false);

/// Returns the options for opening the files of a model.
gpu::model_file_options file_options_of(const config::model_settings& x);

} // namespace atelier::runtime
