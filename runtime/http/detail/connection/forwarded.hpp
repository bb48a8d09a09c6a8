// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/network.hpp>
#include <atelier/core/result.hpp>
#include <atelier/runtime/http/exchange.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http::detail {

/// What proxies say of a client. Empty is what they do not say.
struct forwarded {
  /// Its address; or "unknown", or a name in place of it that begins with '_'.
  std::string client;
  /// The host by which it calls the server, perhaps with a port.
  std::string host;
  /// "http" or "https".
  std::string scheme;
};

/// Reads Forwarded (RFC 7239), and X-Forwarded-For, -Host and -Proto, if the
/// peer is a trusted proxy. In a chain of proxies the client is the last
/// address that is none of theirs: what stands before it may be invented.
/// Errors: ec::invalid_argument for a field that cannot be read, or fields that
///         contradict each other.
core::result<forwarded> read_forwarded(
  const fields& headers, std::string_view peer,
  const std::vector<config::network>& trusted);

} // namespace atelier::runtime::http::detail
