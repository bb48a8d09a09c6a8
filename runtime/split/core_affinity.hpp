// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>

#include <string_view>

namespace atelier::runtime {

/// Checks that this machine gives this process every core that the settings
/// name. Reports all faults at once, a line each.
/// Errors: ec::bad_config; the text names the key, the core and the available
///         cores
core::result<void> check_cores(const config::settings& x);

/// Returns the cores of a part, "cpu" or a device, as the settings write them;
/// empty: all.
std::string_view cores_of(const config::settings& x, std::string_view part);

/// Binds the calling thread, and threads that it starts from now on, to these
/// cores; an empty set binds nothing.
/// @pre `cores` has the format of config::parse_core_set
/// Errors: ec::bad_config if the machine has none of them.
core::result<void> run_on(std::string_view cores);

} // namespace atelier::runtime
