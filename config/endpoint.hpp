// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::config {

/// An address to listen to, or to call.
struct endpoint {
  /// Without the brackets of an IPv6 address.
  std::string host;
  uint16_t port = 0;

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// Reads HOST:PORT, an IPv6 address in brackets; the port has 0..65535. Looks
/// nothing up.
std::optional<endpoint> parse_endpoint(std::string_view text);

/// Reads an address to listen to: HOST:PORT, or :PORT or PORT alone, which
/// stand for 127.0.0.1, this machine only. Looks nothing up.
std::optional<endpoint> parse_listen(std::string_view text);

/// Whether `text` is an origin as browsers send it: a scheme, http or https,
/// and a host, perhaps with a port, in lower case and without a path.
bool is_origin(std::string_view text);

} // namespace atelier::config
