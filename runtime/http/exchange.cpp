// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/exchange.hpp>

#include <algorithm>

namespace atelier::runtime::http {

std::string_view find_field(const fields& in, std::string_view name) {
  const auto i = std::find_if(in.begin(), in.end(),
                              [&](const auto& x) { return x.first == name; });
  return i == in.end() ? std::string_view{} : std::string_view{i->second};
}

} // namespace atelier::runtime::http
