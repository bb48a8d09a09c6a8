// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// Devices that `plan` and `simulate` count at most.
inline constexpr uint64_t most_workers = 20'000;

/// Reads --workers, or NAME=N[:FILE] of each --kind: N devices of that kind,
/// whose costs FILE has, a profile; without FILE they are those of --profiles.
/// Lists the kinds in `known`. Without --kind the devices are of one kind
/// without a name, 16 where --workers says nothing.
/// Errors: ec::invalid_argument, with the option, the value and what it must
/// be:
///         both options at once, a name twice, a file with none of the
///         variants.
core::result<std::vector<planning::device_group>> read_devices(
  const std::optional<std::string>& workers,
  const std::vector<std::string>& kinds, planning::profile& known);

/// Returns how many devices these are.
uint32_t count_of(const std::vector<planning::device_group>& groups);

} // namespace atelier::runtime::cli
