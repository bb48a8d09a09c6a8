// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/doors.hpp>

namespace atelier::runtime::http {

doors doors::make(const door_context& from) {
  doors out;
  auto routes = std::make_shared<route_table>();
  add_health_route(*routes, from.condition);
  out.chores.push_back([x = from.condition] { x->refresh(); });
  out.routes = std::move(routes);
  return out;
}

} // namespace atelier::runtime::http
