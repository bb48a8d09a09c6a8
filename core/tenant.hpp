// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

#include <string_view>

namespace atelier::core {

/// Returns the tenant of a name, the same in every run and process; 0 where it
/// is empty, and never else. Two names share one by chance alone, one pair in
/// four billion.
tenant_id tenant_of(std::string_view name);

} // namespace atelier::core
