// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace atelier::config {

/// An IP address, or all addresses that share its first bits. IPv4 is held as
/// the IPv6 addresses ::ffff:0:0/96, so that both spellings of it are equal.
struct network {
  std::array<uint8_t, 16> address{};
  /// The number of bits that are shared; 128: one address.
  uint8_t bits = 128;

  friend bool operator==(const network&, const network&) = default;
};

/// Reads an address ("192.0.2.7", "2001:db8::1"). Looks nothing up.
std::optional<network> parse_address(std::string_view text);

/// Reads an address, or a network as ADDRESS/BITS ("10.0.0.0/8", "fd00::/8").
std::optional<network> parse_network(std::string_view text);

/// Whether the first bits of `inner` are those of `outer`.
bool contains(const network& outer, const network& inner);

} // namespace atelier::config
