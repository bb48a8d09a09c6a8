// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>

#include <filesystem>

namespace atelier::runtime {

/// Returns settings in which every device says what runs there: those that
/// leave it open get the shipped family where it is there, else the test card;
/// models of the family that a device names are added to [[models]], and with
/// them what judges pictures, what classifies prompts, and what is known of
/// their quality.
/// `family`: the folder of the family; empty where there is none.
/// Errors: ec::not_found (a device that needs the family, and it is not there).
core::result<config::settings> with_shipped_models(
  config::settings x, const std::filesystem::path& family);

/// The same with the family that lies beside this program (models_folder).
core::result<config::settings> with_shipped_models(config::settings x);

} // namespace atelier::runtime
