// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/runtime/http/detail/connection/trace_context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace atelier::runtime::http::detail {

namespace {

/// Positions in "00-" trace "-" span "-" flags.
constexpr size_t trace_at = 3;
constexpr size_t span_at = 36;
constexpr size_t flags_at = 53;
constexpr size_t whole = 55;

/// Returns whether the text is hexadecimal. Capital letters are not allowed.
bool is_hex(std::string_view x) {
  return std::all_of(x.begin(), x.end(), [](char c) {
    return core::is_digit(c) || (c >= 'a' && c <= 'f');
  });
}

bool is_zero(std::string_view x) {
  return x.find_first_not_of('0') == std::string_view::npos;
}

bool is_valid(std::string_view x) {
  if (x.size() < whole || x[trace_at - 1] != '-' || x[span_at - 1] != '-'
      || x[flags_at - 1] != '-')
    return false;
  const auto version = x.substr(0, 2);
  const auto trace = x.substr(trace_at, 32);
  const auto span = x.substr(span_at, 16);
  if (!is_hex(version) || version == "ff" || !is_hex(trace) || is_zero(trace)
      || !is_hex(span) || is_zero(span) || !is_hex(x.substr(flags_at, 2)))
    return false;
  // Later versions may append fields after another dash.
  return x.size() == whole || (version != "00" && x[whole] == '-');
}

} // namespace

std::string own_span(const fields& headers, uint64_t span) {
  const auto named = [](const auto& x) { return x.first == "traceparent"; };
  if (std::count_if(headers.begin(), headers.end(), named) != 1)
    return {};
  const auto given = find_field(headers, "traceparent");
  if (!is_valid(given))
    return {};
  // The sampled flag is the only one that every version defines.
  const char last = given[flags_at + 1];
  const int digit = last <= '9' ? last - '0' : last - 'a' + 10;
  return fmt::format("00-{}-{:016x}-{:02x}", given.substr(trace_at, 32),
                     span == 0 ? 1 : span, digit & 1);
}

} // namespace atelier::runtime::http::detail
