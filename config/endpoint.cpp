// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/endpoint.hpp>
#include <atelier/core/ascii.hpp>

#include <algorithm>
#include <charconv>

namespace atelier::config {

namespace {

bool in_host(char c) {
  return core::is_alphanumeric(c) || c == '.' || c == '-' || c == '_';
}

bool in_address(char c) {
  return core::hex_digit(c) || c == ':' || c == '.';
}

bool is_host(std::string_view x, bool bracketed) {
  constexpr size_t longest = 253;
  return !x.empty() && x.size() <= longest
      && std::all_of(x.begin(), x.end(), bracketed ? in_address : in_host);
}

std::optional<uint16_t> parse_port(std::string_view x) {
  uint16_t port = 0;
  const auto* const end = x.data() + x.size();
  const auto [at, fault] = std::from_chars(x.data(), end, port);
  if (x.empty() || fault != std::errc{} || at != end)
    return std::nullopt;
  return port;
}

} // namespace

std::optional<endpoint> parse_endpoint(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  auto host = text.substr(0, colon);
  const bool bracketed =
    host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed)
    host = host.substr(1, host.size() - 2);
  const auto port = parse_port(text.substr(colon + 1));
  if (!port || !is_host(host, bracketed))
    return std::nullopt;
  return endpoint{std::string{host}, *port};
}

std::optional<endpoint> parse_listen(std::string_view text) {
  const auto port = text.starts_with(':') ? text.substr(1) : text;
  if (const auto number = parse_port(port))
    return endpoint{"127.0.0.1", *number};
  return parse_endpoint(text);
}

bool is_origin(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme))
      continue;
    const auto rest = text.substr(scheme.size());
    const bool lower = std::none_of(
      rest.begin(), rest.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    return lower
        && (parse_endpoint(rest) || parse_endpoint(std::string{rest} + ":0"));
  }
  return false;
}

} // namespace atelier::config
