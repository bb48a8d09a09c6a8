// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/training/evaluation/session_captions.hpp>
#include <atelier/training/program/reuse_study/study_systems.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::reuse_study {

/// What to measure of one variant.
struct study_plan {
  /// The user's configuration; its first device runs everything.
  std::string config_file;
  std::vector<std::string> set;
  /// Logs, images and the results.
  std::filesystem::path folder;
  /// The variant whose runs are reused, such as "base@50".
  std::string variant;
  /// The variants of the systems `small-model` and `turbo`; empty: the
  /// system is left out.
  std::string small;
  std::string turbo;
  std::vector<const study_system*> systems;
  /// Requests that only fill the cache, and those after them that count.
  uint32_t warm = 1500;
  uint32_t measured = 1500;
  uint64_t seed = 1;
  /// 0x0: the variant's own size.
  core::extent px;
  /// Prompts in the order of the requests, after which none is judged; empty:
  /// captions of the shipped family in sessions.
  std::vector<std::string> texts;
};

/// One request of the recorded order.
struct study_request {
  std::string prompt;
  uint64_t seed = 0;
  uint64_t session = 0;
  std::string change;
  /// What an image must show; nothing: it is not judged.
  std::optional<gpu::description> says;
};

/// Returns the requests of a plan, those that fill the cache first: the same
/// for every system.
std::vector<study_request> requests_of(const study_plan& plan);

/// The engine's configuration for a plan.
struct study_setup {
  /// Overrides for every system's engine, complete but for its policy, its
  /// encoder and its cache's folder.
  std::vector<std::string> set;
  config::settings settings;
  /// The costs, with what the profile says of reuse.
  planning::profile costs;
  core::variant_id full;
  /// The size of all images.
  core::extent px;
  /// The folder of the encoder `compared_by::tower`: cache.encoder, or that of
  /// the shipped scorer if the configuration does not say; empty: words are
  /// compared.
  std::string tower;
  /// The folder of the scorer that compares prompts with images; empty: none
  /// was found.
  std::filesystem::path scorer;

  const planning::variant_profile& variant() const {
    return costs.variants[full.value];
  }
};

/// Reads the configuration and describes the variants.
/// Errors: those of config::load and know_variants; ec::invalid_argument: a
///         plan that cannot run (no steps to skip, several devices, captions
///         for a model that draws other texts, too few texts, a system without
///         its variant or scorer).
core::result<study_setup> read_setup(const study_plan& plan);

} // namespace atelier::runtime::reuse_study
