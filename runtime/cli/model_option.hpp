// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::cli {

/// What --model, --device and --dtype say, as they were written.
struct model_choice {
  std::optional<std::string> model;
  std::optional<std::string> device;
  /// float32, float16 or bfloat16, or their short forms f32, f16, bf16.
  std::optional<std::string> dtype;
  /// Steps of the variant; none: those that a device runs the model with, else
  /// what its pipeline takes.
  std::optional<uint32_t> steps;
};

/// What a choice comes to.
struct model_overrides {
  /// Overrides of the settings.
  std::vector<std::string> set;
  /// The name that requests use; none where no model was chosen.
  std::optional<std::string> model;
};

/// Returns what makes a model on disk the one that devices[0] hosts: --model
/// names a folder or file, or one in the data folder. Nothing is overridden
/// where a device hosts a model of that name already.
/// Errors: ec::not_found (no such model), ec::bad_payload, ec::bad_config (the
///         model's files), ec::invalid_argument (device, dtype); the text names
///         the option.
core::result<model_overrides> read_model_option(
  const model_choice& chosen, const config::settings& known,
  const std::filesystem::path& data);

/// Returns `text` as a TOML string.
std::string toml_string(std::string_view text);

} // namespace atelier::runtime::cli
