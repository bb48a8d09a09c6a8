// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace atelier::config {

/// Cores have numbers below this one.
inline constexpr uint32_t most_cores = 1024;

/// Reads numbers and ranges, such as "0-3,6"; a range must rise, and each core
/// may occur once. Returns them in rising order.
std::optional<std::vector<uint32_t>> parse_core_set(std::string_view text);

} // namespace atelier::config
