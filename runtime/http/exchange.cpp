// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/shared_text.hpp>
#include <atelier/runtime/http/exchange.hpp>

#include <algorithm>

namespace atelier::runtime::http {

std::string_view find_field(const fields& in, std::string_view name) {
  const auto i = std::find_if(in.begin(), in.end(),
                              [&](const auto& x) { return x.first == name; });
  return i == in.end() ? std::string_view{} : std::string_view{i->second};
}

void exchange::share_event(std::string_view name,
                           std::shared_ptr<detail::shared_text> data) {
  event(name, data->text());
}

void exchange::passing_event(std::string_view name, std::string_view data) {
  event(name, data);
}

} // namespace atelier::runtime::http
