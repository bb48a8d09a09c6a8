// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace atelier::runtime::http::detail {

/// Whether a host, perhaps with a port, has only characters that need no
/// escapes in an address.
bool is_plain_host(std::string_view host);

/// Whether a Host header names this machine by a name or address that no
/// stranger's name server can give: localhost, what ends in .localhost,
/// 127.0.0.0/8 or [::1], with or without a port. A page from elsewhere whose
/// name was made to point here keeps its own name in the header.
bool is_loopback_host(std::string_view host);

/// Whether a page of `origin` was served by `host`. Schemes are not looked at:
/// a proxy may end TLS.
bool is_same_origin(std::string_view origin, std::string_view host);

/// Whether the method only looks.
bool is_safe_method(std::string_view method);

} // namespace atelier::runtime::http::detail
