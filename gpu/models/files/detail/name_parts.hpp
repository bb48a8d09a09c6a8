// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace atelier::gpu::detail {

/// One rule of a table of names: what it was, what it becomes.
struct name_rule {
  std::string_view from;
  std::string_view to;
};

/// Takes the dotted word at the front of `rest`: "a" of "a.b.c", which leaves
/// "b.c"; all of it where there is no dot.
inline std::string_view take_word(std::string_view& rest) {
  const auto dot = rest.find('.');
  const auto word = rest.substr(0, dot);
  rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
  return word;
}

/// Returns the number that a word is: digits alone, at most four.
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

/// Applies the rule whose `from` is all of the name but its last word
/// ("weight" or "bias"): "norm.weight" by {"norm", "group_norm"} becomes
/// "group_norm.weight". None where no rule does.
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
