// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/enum_count.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace atelier::core {

/// The rule that chooses what leaves a full cache.
enum class eviction_rule : uint8_t {
  /// First in, first out.
  fifo,
  /// Least recently used.
  lru,
  /// f K: uses times skipped steps.
  /// Source: Nirvana, section 5.4 (LCBFU).
  lcbfu,
  /// Least frequently used.
  lfu,
  /// floor + f (K - K below) / bytes: the loss of an eviction per byte, with
  /// ageing, so that a new state is not always the next victim.
  marginal,
};

inline constexpr std::array<std::string_view, enum_count<eviction_rule>>
  eviction_rule_names = {"fifo", "lru", "lcbfu", "lfu", "marginal"};

/// The rules of a server's cache; simulations know all rules.
inline constexpr std::span<const std::string_view> server_eviction_rules{
  eviction_rule_names.data(), 3};

constexpr bool is_server_rule(eviction_rule x) {
  return static_cast<size_t>(x) < server_eviction_rules.size();
}

/// Returns the rule with that name, if any.
constexpr std::optional<eviction_rule> eviction_rule_named(
  std::string_view name) {
  for (size_t i = 0; i < eviction_rule_names.size(); ++i)
    if (eviction_rule_names[i] == name)
      return static_cast<eviction_rule>(i);
  return std::nullopt;
}

} // namespace atelier::core
