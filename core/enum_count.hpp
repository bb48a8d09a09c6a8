// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace atelier::core {

namespace detail {

/// Returns whether the compiler knows a name for this value. GCC and Clang
/// print a value without a name as a cast, "(role)3".
template <class Enum, Enum Value>
constexpr bool has_name() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const auto begin = text.find("Value = ");
  return begin != text.npos && text[begin + 8] != '(';
}

template <class Enum, size_t From>
constexpr size_t count_names() {
  if constexpr (From > 255)
    return From;
  else if constexpr (has_name<Enum, static_cast<Enum>(From)>())
    return count_names<Enum, From + 1>();
  else
    return From;
}

} // namespace detail

/// Number of values of an enumeration that counts up from 0. A number from a
/// file or another process is one of the values if it is below this.
template <class Enum>
  requires std::is_enum_v<Enum>
inline constexpr size_t enum_count = detail::count_names<Enum, 0>();

} // namespace atelier::core
