// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>

#include <string_view>

namespace atelier::runtime {

/// Checks that this machine gives this process every core that the settings
/// name. All faults at once, a line each.
/// Errors: ec::bad_config; the text names the key, the core and those there are
core::result<void> check_cores(const config::settings& x);

/// Returns the cores of a part, "cpu" or a device, as the settings write them;
/// empty: all.
std::string_view cores_of(const config::settings& x, std::string_view part);

/// Binds the calling thread, and those that it starts from now on, to these
/// cores; an empty set binds nothing.
/// @pre `cores` is as config::parse_core_set reads
/// Errors: ec::bad_config where the machine has none of them.
core::result<void> run_on(std::string_view cores);

} // namespace atelier::runtime
