// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/runtime/http/detail/connection/origin.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string>

namespace atelier::runtime::http::detail {

namespace {

bool is_port(std::string_view x) {
  return x.size() <= 5 && std::ranges::all_of(x, core::is_digit);
}

/// Returns the host without its port; empty where it is none.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    if (end == std::string_view::npos)
      return {};
    const auto rest = host.substr(end + 1);
    const bool ends =
      rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
    return ends ? host.substr(0, end + 1) : std::string_view{};
  }
  const auto colon = host.find(':');
  if (colon == std::string_view::npos)
    return host;
  return is_port(host.substr(colon + 1)) ? host.substr(0, colon)
                                         : std::string_view{};
}

} // namespace

bool is_plain_host(std::string_view host) {
  return !host.empty() && host.size() <= 255
      && std::all_of(host.begin(), host.end(), [](char c) {
           return core::is_alphanumeric(c)
               || std::string_view{".:-_[]"}.find(c) != std::string_view::npos;
         });
}

bool is_loopback_host(std::string_view host) {
  auto name = core::lower_case(without_port(host));
  if (name.ends_with('.'))
    name.pop_back();
  if (name == "localhost" || name.ends_with(".localhost") || name == "[::1]")
    return true;
  in_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1
      && ntohl(address.s_addr) >> 24 == 127;
}

bool is_same_origin(std::string_view origin, std::string_view host) {
  const auto end = origin.find("://");
  return end != std::string_view::npos && !host.empty()
      && core::same_word(origin.substr(end + 3), host);
}

bool is_safe_method(std::string_view method) {
  constexpr std::array<std::string_view, 3> safe{"GET", "HEAD", "OPTIONS"};
  return std::find(safe.begin(), safe.end(), method) != safe.end();
}

} // namespace atelier::runtime::http::detail
