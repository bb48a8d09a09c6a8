// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/text.hpp>
#include <atelier/core/ascii.hpp>
#include <atelier/core/utf8.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::config::detail {

namespace {

constexpr size_t most_shown_bytes = 100;

/// Returns the bytes of the control character at the start of valid UTF-8, or
/// 0. Those above ASCII, U+0080 to U+009F, can command a terminal too.
size_t control_bytes(std::string_view x) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(x[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7F)
    return 1;
  return byte(0) == 0xC2 && byte(1) < 0xA0 ? 2 : 0;
}

/// Appends valid UTF-8 to `text`, escaped.
void append_escaped(std::string_view x, std::string& text) {
  while (!x.empty()) {
    const auto n = control_bytes(x);
    if (n > 0)
      // The last byte of both lengths is the code.
      text += fmt::format("\\u{:04X}", static_cast<unsigned char>(x[n - 1]));
    else if (x[0] == '"' || x[0] == '\\')
      text += {'\\', x[0]};
    else
      text += x[0];
    x.remove_prefix(std::max<size_t>(n, 1));
  }
}

bool is_bare(char c) {
  return core::is_alphanumeric(c) || c == '_' || c == '-';
}

} // namespace

bool is_plain(std::string_view x) {
  if (x.size() > most_text_bytes || core::find_utf8_fault(x))
    return false;
  for (; !x.empty(); x.remove_prefix(1))
    if (control_bytes(x) > 0)
      return false;
  return true;
}

std::string escape(std::string_view x) {
  std::string text;
  while (const auto fault = core::find_utf8_fault(x)) {
    append_escaped(x.substr(0, *fault), text);
    text += "\uFFFD";
    x.remove_prefix(*fault + 1);
  }
  append_escaped(x, text);
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
  std::string shown{core::beginning_of(x, most_shown_bytes)};
  return shown.size() < x.size() ? shown + "…" : shown;
}

} // namespace atelier::config::detail
