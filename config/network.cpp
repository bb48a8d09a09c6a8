// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/network.hpp>
#include <atelier/core/ascii.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace atelier::config {

namespace {

constexpr uint8_t all_bits = 128;
/// The bits before an IPv4 address, which stand for its kind.
constexpr uint8_t bits_before_v4 = 96;

} // namespace

std::optional<network> parse_address(std::string_view text) {
  const std::string copy{text};
  // inet_pton would read only what stands before a zero byte.
  if (copy.find('\0') != std::string::npos)
    return std::nullopt;
  network out;
  if (inet_pton(AF_INET6, copy.c_str(), out.address.data()) == 1)
    return out;
  out.address = {};
  out.address[10] = out.address[11] = 0xff;
  if (inet_pton(AF_INET, copy.c_str(), out.address.data() + 12) == 1)
    return out;
  return std::nullopt;
}

std::optional<network> parse_network(std::string_view text) {
  const auto slash = text.find('/');
  auto out = parse_address(text.substr(0, slash));
  if (!out || slash == std::string_view::npos)
    return out;
  const auto digits = text.substr(slash + 1);
  const uint8_t before =
    text.substr(0, slash).find(':') == std::string_view::npos ? bits_before_v4
                                                              : 0;
  const bool plain =
    !digits.empty() && std::ranges::all_of(digits, core::is_digit);
  unsigned bits = 0;
  const auto [end, error] =
    std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (!plain || error != std::errc{} || end != digits.data() + digits.size()
      || bits > static_cast<unsigned>(all_bits - before))
    return std::nullopt;
  out->bits = static_cast<uint8_t>(before + bits);
  // Fewer bits of an IPv4 address that is written as an IPv6 one would contain
  // every IPv4 address.
  static const network four{parse_address("0.0.0.0")->address, bits_before_v4};
  if (out->bits < bits_before_v4
      && contains(four, *parse_address(text.substr(0, slash))))
    return std::nullopt;
  return out;
}

bool contains(const network& outer, const network& inner) {
  if (inner.bits < outer.bits)
    return false;
  const size_t whole = outer.bits / 8;
  if (!std::equal(outer.address.begin(), outer.address.begin() + whole,
                  inner.address.begin()))
    return false;
  const unsigned rest = outer.bits % 8;
  const auto mask = static_cast<uint8_t>(0xff << (8 - rest));
  return rest == 0
      || ((outer.address[whole] ^ inner.address[whole]) & mask) == 0;
}

} // namespace atelier::config
