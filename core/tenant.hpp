// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace atelier::core {

/// Returns the tenant of a name, which is the same in every run and process:
/// the first 128 bits of its SHA-256. It is 0 only for an empty name.
tenant_id tenant_of(std::string_view name);

/// The largest share of a tenant. A tenant with share N gets N parts of a
/// device's time where one with share 1 gets one, while both have work.
inline constexpr uint32_t most_share = 1000;

using tenant_bytes = std::array<uint8_t, 16>;

/// Returns the bytes of a tenant, in the order of the digest, for files.
tenant_bytes bytes_of(tenant_id x);

/// Returns the tenant that bytes_of turned into these bytes; none if they are
/// not 16.
std::optional<tenant_id> tenant_in(std::span<const uint8_t> bytes);

/// Returns a tenant as 32 lower-case hexadecimal digits; empty for the unnamed
/// client.
std::string digits_of(tenant_id x);

} // namespace atelier::core
