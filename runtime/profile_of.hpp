// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/planning/profile.hpp>

#include <string_view>

namespace atelier::runtime {

/// Returns what planning knows of the variants that the devices of `x` host,
/// in the order of their first mention: the same in every process that reads
/// the same settings, so that variant_id means the same everywhere.
/// @pre `x` is valid (config::validate)
planning::profile profile_of(const config::settings& x);

/// Splits "model@steps" or "model@steps/dtype".
/// Errors: ec::bad_config; the text names the part.
core::result<planning::variant_profile> parse_variant(std::string_view name);

} // namespace atelier::runtime
