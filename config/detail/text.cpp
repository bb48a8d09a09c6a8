// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/text.hpp>

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace atelier::config::detail {

namespace {

constexpr size_t most_shown_bytes = 100;

/// One character at the start of a text; bytes is 0 where it is not UTF-8.
struct character {
  uint32_t code = 0;
  size_t bytes = 0;
};

character first_of(std::string_view x) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(x[i]));
  };
  const uint32_t lead = byte(0);
  if (lead < 0x80)
    return {lead, 1};
  const size_t n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || x.size() < n)
    return {};
  uint32_t code = lead & (0x7Fu >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least[n] || code > 0x10FFFF || surrogate)
    return {};
  return {code, n};
}

bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

} // namespace

bool is_plain(std::string_view x) {
  if (x.size() > most_text_bytes)
    return false;
  while (!x.empty()) {
    const auto c = first_of(x);
    if (c.bytes == 0 || is_control(c.code))
      return false;
    x.remove_prefix(c.bytes);
  }
  return true;
}

std::string escape(std::string_view x) {
  std::string text;
  while (!x.empty()) {
    const auto c = first_of(x);
    if (c.bytes == 0)
      text += "\uFFFD";
    else if (c.code == '"' || c.code == '\\')
      text += {'\\', x.front()};
    else if (is_control(c.code))
      text += fmt::format("\\u{:04X}", c.code);
    else
      text += x.substr(0, c.bytes);
    x.remove_prefix(std::max<size_t>(c.bytes, 1));
  }
  return text;
}

std::string quote(std::string_view x) {
  return "\"" + escape(x) + "\"";
}

std::string quote_key(std::string_view x) {
  if (!x.empty() && std::all_of(x.begin(), x.end(), is_bare))
    return shorten(x);
  return shorten(quote(x));
}

std::string shorten(std::string_view x) {
  if (x.size() <= most_shown_bytes)
    return std::string{x};
  size_t end = most_shown_bytes;
  while (end > 0 && (static_cast<unsigned char>(x[end]) & 0xC0) == 0x80)
    --end;
  return std::string{x.substr(0, end)} + "…";
}

} // namespace atelier::config::detail
