// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>

#include <string>

namespace atelier::runtime::http::detail {

/// Returns the name under which memory and work of a request's caller are
/// counted: that of the key, or without a key that of the client's network,
/// which cannot be the name of a key. Behind a trusted proxy the client is the
/// one that the proxy names.
std::string caller_name(const request_message& asked);

} // namespace atelier::runtime::http::detail
