// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::config::detail {

/// Reads all of `x` as a decimal number without sign or leading zeros.
inline std::optional<uint32_t> parse_whole(std::string_view x) {
  uint32_t value = 0;
  const char* end = x.data() + x.size();
  const auto [at, failed] = std::from_chars(x.data(), end, value);
  if (failed != std::errc{} || at != end || (x.size() > 1 && x[0] == '0'))
    return std::nullopt;
  return value;
}

/// Returns `value / scale`: a whole number without a fraction, otherwise with
/// enough digits to recover `value`.
template <class Integer>
std::string number_text(Integer value, double scale) {
  const auto whole = static_cast<Integer>(scale);
  if (value % whole == 0)
    return fmt::format("{}", value / whole);
  return fmt::format("{}", static_cast<double>(value) / scale);
}

} // namespace atelier::config::detail
