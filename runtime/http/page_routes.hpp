// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/route_table.hpp>

namespace atelier::runtime::http {

/// Adds the page for browsers: "/" and "/page/NAME". It needs no key itself;
/// what it asks the server for does.
void add_page_routes(route_table& to);

} // namespace atelier::runtime::http
