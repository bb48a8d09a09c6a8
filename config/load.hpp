// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::config {

/// One fault of a configuration.
struct fault {
  /// The source of the fault: a file's name, "--set", "defaults", or "settings"
  /// for settings that a program filled in.
  std::string source;
  /// Line in the source, from 1; 0 if the source has no lines.
  uint32_t line = 0;
  /// Dotted key, such as "devices[1].max_batch"; empty for faults of syntax.
  std::string key;
  /// A sentence with the value and the allowed range, or the nearest known key.
  std::string text;

  friend bool operator==(const fault&, const fault&) = default;
};

/// Returns "source:line: key: text" for people.
std::string to_string(const fault& x);

/// Holds either valid settings or all faults; never both.
struct outcome {
  settings values;
  std::vector<fault> faults;
  /// Keys that the file or an override set, in order; the others have their
  /// defaults.
  std::vector<std::string> given;

  explicit operator bool() const {
    return faults.empty();
  }
};

/// Reads TOML text, then applies `overrides` ("key.path=value", TOML values;
/// a bare word counts as a string) in order, then checks the whole. Relative
/// paths stay relative.
/// @param own_executors the host's own names for devices[].executor
outcome parse(std::string_view toml, std::string_view source_name,
              std::span<const std::string> overrides = {},
              std::span<const std::string> own_executors = {});

/// Returns the override that sets `key` to the text `value`.
std::string text_override(std::string_view key, std::string_view value);

/// Reads the file at `path`; an empty path means the defaults. Relative paths
/// become absolute: those of the file are in its folder, those of overrides in
/// the working directory.
/// A path that cannot be read is a fault, never a fallback to the defaults.
outcome load(const std::filesystem::path& path,
             std::span<const std::string> overrides = {},
             std::span<const std::string> own_executors = {});

/// Checks settings that a program filled in itself.
std::vector<fault> validate(const settings& x);

/// Returns the faults as one error of ec::bad_config, a line each.
core::error to_error(const std::vector<fault>& faults);

/// Returns `x` as TOML that `parse` reads back to equal settings.
std::string to_toml(const settings& x);

/// Returns the example file: every option at its default, with its meaning,
/// unit and range as comments.
std::string example_toml();

} // namespace atelier::config
