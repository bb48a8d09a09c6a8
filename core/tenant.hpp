// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

#include <string_view>

namespace atelier::core {

/// Returns the tenant of a name, which is the same in every run and process. It
/// is 0 only for an empty name. Two names share a tenant only by chance, one
/// pair in four billion.
tenant_id tenant_of(std::string_view name);

} // namespace atelier::core
