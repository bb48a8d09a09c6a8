// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/result.hpp>
#include <atelier/training/program/reuse_study/study_cache.hpp>
#include <atelier/training/program/reuse_study/study_plan.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace atelier::runtime::reuse_study {

/// What a system's engine is started with.
struct engine_start {
  const study_plan& plan;
  const study_setup& setup;
  const study_system& system;
  /// Keeps the cache; must exist if the system uses one, or be new.
  std::filesystem::path cache;
  /// The profile's file.
  std::filesystem::path profile;
  /// The texts of the entries that the cache has.
  std::vector<std::string> texts;
  /// The number of requests that earlier engines of the system answered.
  uint64_t answered = 0;
  /// The engine's policy keeps states and image of every request and reuses
  /// nothing.
  bool keeps_everything = false;
};

/// An engine of one system that answers requests one after the other.
/// Threads: one.
class study_engine {
public:
  /// Errors: those of engine::start; ec::unavailable: the system's policy does
  ///         not plan for its variant.
  static core::result<std::unique_ptr<study_engine>> start(
    const engine_start& with);

  ~study_engine();

  /// Draws one image.
  /// @param goes_on is called now and then; false ends the wait
  /// Errors: ec::cancelled; ec::unavailable with the failure of the engine.
  core::result<generated_image> draw(const generation& wanted,
                                     const std::function<bool()>& goes_on);

  /// Returns the system's cache; null if it uses none.
  study_cache* cache() const {
    return cache_.get();
  }

  /// Returns the cache if it finds any entry; null otherwise.
  any_entry_cache* any_entry() const {
    return any_entry_.get();
  }

  /// Returns the number of entries in the cache.
  uint64_t entries() const;

private:
  study_engine() = default;

  std::unique_ptr<engine> engine_;
  std::shared_ptr<study_cache> cache_;
  std::shared_ptr<any_entry_cache> any_entry_;
};

} // namespace atelier::runtime::reuse_study
