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

/// The values of --model, --device and --dtype, as they were written.
struct model_choice {
  std::optional<std::string> model;
  std::optional<std::string> device;
  /// float32, float16 or bfloat16, or their short forms f32, f16, bf16.
  std::optional<std::string> dtype;
  /// Steps of the variant. Without a value, they are those with which a device
  /// runs the model, otherwise the default of its pipeline.
  std::optional<uint32_t> steps;
};

/// The settings that follow from a choice.
struct model_overrides {
  /// Overrides of the settings.
  std::vector<std::string> set;
  /// The name that requests use; absent if no model was chosen.
  std::optional<std::string> model;
};

/// Returns the overrides that make devices[0] host a model on disk. --model
/// names a folder or file, or one in the data folder. Nothing is overridden if
/// a device already hosts a model of that name.
/// Errors: ec::not_found (no such model), ec::bad_payload, ec::bad_config (the
///         model's files), ec::invalid_argument (device, dtype); the text names
///         the option.
core::result<model_overrides> read_model_option(
  const model_choice& chosen, const config::settings& known,
  const std::filesystem::path& data);

/// Returns `text` as a TOML string.
std::string toml_string(std::string_view text);

} // namespace atelier::runtime::cli
