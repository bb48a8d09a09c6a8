// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::actors {

/// Divisor for the part of a worker's seats, of slots and of rows prepared
/// ahead that tenants which have some leave to those that have none.
inline constexpr uint32_t share_for_others = 8;

/// Divisor for the largest part of slots, and of seats that one batch can take,
/// that they leave to active tenants without any.
inline constexpr uint32_t most_for_active = 4;

} // namespace atelier::actors
