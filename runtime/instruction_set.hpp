// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/instruction_set.hpp>
#include <atelier/core/result.hpp>
#include <atelier/planning/profile.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime {

/// Returns the set that a process with these settings uses on a processor with
/// the `available` ones.
/// Errors: ec::bad_config if the settings name a set that is not available; the
///         text names the key, the set and the available ones.
core::result<core::instruction_set> instruction_set_of(
  const config::settings& x, std::span<const core::instruction_set> available);

/// Keeps the process at one instruction set as long as it exists.
using instruction_set_hold = std::shared_ptr<const core::instruction_set>;

/// Limits this process to the set of the settings, and logs which one is in
/// use. With "auto" that is the one which another hold keeps, or the fastest
/// available one.
/// Errors:  those of instruction_set_of; ec::bad_config if another hold keeps
///          another set
/// Threads: any.
core::result<instruction_set_hold> use_instruction_set(
  const config::settings& x);

/// Returns a sentence for each profile of the settings that was measured with
/// another set than `in_use`. Profiles that do not say it have none.
/// @param known the result of profile_of for `x`
std::vector<std::string> other_measurements(const config::settings& x,
                                            const planning::profile& known,
                                            core::instruction_set in_use);

/// Returns the sentence for one profile; empty if it was measured with `in_use`
/// or does not say it.
/// @param where the option and the file
std::string other_measurement(
  std::string_view where, const std::optional<core::instruction_set>& measured,
  core::instruction_set in_use);

} // namespace atelier::runtime
