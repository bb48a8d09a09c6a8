// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>

#include <filesystem>

namespace atelier::runtime {

/// Returns settings in which every device has an executor and variants. Devices
/// without them get the shipped family. A build without LibTorch has the test
/// card instead, and so does each if ATELIER_MODELS is empty; models of the
/// family that a device names are added to [[models]], with
/// the judges, the classifier and the measured qualities.
/// @param family the folder of the family; empty if it is missing
/// Errors: ec::not_found (a device needs the family, and it is missing).
core::result<config::settings> with_shipped_models(
  config::settings x, const std::filesystem::path& family);

/// Does the same with the family beside this program (models_folder).
core::result<config::settings> with_shipped_models(config::settings x);

} // namespace atelier::runtime
