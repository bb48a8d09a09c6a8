// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace atelier::gpu::detail {

/// One rule of a table of names: the old name and the new one.
struct name_rule {
  std::string_view from;
  std::string_view to;
};

/// Removes and returns the first dotted word of `rest`: "a" of "a.b.c", which
/// leaves "b.c"; the whole text if it has no dot.
inline std::string_view take_word(std::string_view& rest) {
  const auto dot = rest.find('.');
  const auto word = rest.substr(0, dot);
  rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
  return word;
}

/// Returns a word's number if it has only digits, at most four.
inline std::optional<size_t> number_of(std::string_view word) {
  if (word.empty() || word.size() > 4)
    return std::nullopt;
  size_t out = 0;
  for (const char c : word) {
    if (c < '0' || c > '9')
      return std::nullopt;
    out = out * 10 + static_cast<size_t>(c - '0');
  }
  return out;
}

/// Applies the rule whose `from` equals the name without its last word
/// ("weight" or "bias"): with {"norm", "group_norm"}, "norm.weight" becomes
/// "group_norm.weight". Returns nothing if no rule applies.
template <class Rules>
std::optional<std::string> apply_rule(const Rules& rules,
                                      std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos)
    return std::nullopt;
  for (const name_rule& x : rules)
    if (x.from == name.substr(0, dot))
      return std::string{x.to} + std::string{name.substr(dot)};
  return std::nullopt;
}

} // namespace atelier::gpu::detail
