// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace atelier::runtime::reuse_study {

/// What a system's searches find.
enum class found_entries : uint8_t {
  /// The system does not use the cache.
  none,
  nearest,
  /// any_entry_cache.
  any,
  /// The nearest by the images' own vectors (cache.compares = "images"), which
  /// the scorer's folder makes.
  by_image,
};

/// The encoder that compares prompts.
enum class compared_by : uint8_t {
  /// cache.encoder, the shipped text tower unless the configuration says so.
  tower,
  /// The encoder "words".
  words,
};

/// How each request is put.
enum class asked_for : uint8_t {
  /// As it stands: the policy decides.
  policy,
  /// With so few steps that all requests together run as many as those of
  /// `nirvana`.
  fewer_steps,
  /// By the variant of --turbo.
  turbo,
};

/// One system: a row of the tables.
struct study_system {
  std::string_view name;
  /// The policy of its engine.
  std::string_view policy;
  found_entries found = found_entries::none;
  compared_by encoder = compared_by::tower;
  asked_for request = asked_for::policy;

  /// Whether its requests depend on what `nirvana` did.
  constexpr bool follows_nirvana() const {
    return found == found_entries::any || request == asked_for::fewer_steps;
  }
};

/// The system whose images the others are compared with.
inline constexpr std::string_view full_system = "full";

/// The systems, in the order in which they run: one that follows another comes
/// after it.
std::span<const study_system> study_systems();

/// Returns the system of that name; null if no system has it.
const study_system* find_system(std::string_view name);

} // namespace atelier::runtime::reuse_study
