// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/gpu/models/model_files.hpp>
#include <atelier/planning/profile.hpp>

#include <string_view>

namespace atelier::runtime {

/// Returns what planning knows of the variants that the devices of `x` host,
/// in the order of their first mention: the same in every process that reads
/// the same settings, so that variant_id means the same everywhere.
/// Models are opened for their configurations; no weights are read.
/// @pre `x` is valid (config::validate)
/// Errors: those of gpu::open_model and gpu::facts_of, with the model's name.
core::result<planning::profile> profile_of(const config::settings& x);

/// Returns how the files of a model are to be opened.
gpu::model_file_options file_options_of(const config::model_settings& x);

} // namespace atelier::runtime
