// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/utf8.hpp>
#include <atelier/runtime/http/detail/connection/target.hpp>

#include <algorithm>
#include <optional>

namespace atelier::runtime::http::detail {

namespace {

using core::ec;
using core::fail;
using core::result;

/// @param blanks whether '+' stands for one
result<std::string> decode(std::string_view text, bool blanks) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const auto high =
        i + 2 < text.size() ? core::hex_digit(text[i + 1]) : std::nullopt;
      const auto low = high ? core::hex_digit(text[i + 2]) : std::nullopt;
      if (!low)
        return fail(ec::invalid_argument,
                    "the address has a '%' without two hexadecimal digits");
      out += static_cast<char>(*high << 4 | *low);
      i += 2;
    } else {
      out += blanks && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (out.find('\0') != std::string::npos)
    return fail(ec::invalid_argument, "the address has a zero byte");
  if (core::find_utf8_fault(out))
    return fail(ec::invalid_argument, "the address is not UTF-8");
  return out;
}

bool climbs(std::string_view path) {
  while (!path.empty()) {
    const auto end = std::min(path.find_first_of("/\\"), path.size());
    const auto segment = path.substr(0, end);
    if (segment == "." || segment == "..")
      return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

/// Takes "http://host" off an absolute form.
std::string take_authority(std::string_view& text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme))
      continue;
    text.remove_prefix(scheme.size());
    const auto end = std::min(text.find_first_of("/?"), text.size());
    std::string authority{text.substr(0, end)};
    text.remove_prefix(end);
    return authority;
  }
  return {};
}

result<fields> parse_query(std::string_view text) {
  fields out;
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const auto pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty())
      continue;
    const auto equals = std::min(pair.find('='), pair.size());
    auto name = decode(pair.substr(0, equals), true);
    if (!name)
      return name.why();
    auto value = decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!value)
      return value.why();
    out.emplace_back(std::move(*name), std::move(*value));
  }
  return out;
}

} // namespace

result<target> parse_target(std::string_view text) {
  target out;
  if (text == "*") {
    out.path = text;
    return out;
  }
  out.authority = take_authority(text);
  if (text.find('#') != std::string_view::npos)
    return fail(ec::invalid_argument, "the address has a fragment");
  const auto mark = std::min(text.find('?'), text.size());
  auto path = decode(text.substr(0, mark), false);
  if (!path)
    return path.why();
  if (path->empty() && !out.authority.empty())
    *path = "/";
  if (path->empty() || path->front() != '/')
    return fail(ec::invalid_argument, "the address does not begin with '/'");
  if (std::any_of(path->begin(), path->end(),
                  [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return fail(ec::invalid_argument, "the address has control characters");
  if (climbs(*path))
    return fail(ec::invalid_argument, "the address has a segment '.' or '..'");
  out.path = std::move(*path);
  auto query = parse_query(text.substr(std::min(mark + 1, text.size())));
  if (!query)
    return query.why();
  out.query = std::move(*query);
  return out;
}

} // namespace atelier::runtime::http::detail
