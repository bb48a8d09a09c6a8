// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace atelier::config {

/// A model shipped with Atelier, and its default steps and guidance.
struct shipped_model {
  std::string_view name;
  uint32_t steps = 0;
  float guidance = 1;
};

/// The models of the shipped family; the first one is the default.
inline constexpr std::array<shipped_model, 4> shipped_family{
  {{"base", 50, 2}, {"small", 50, 2}, {"tiny", 50, 2}, {"turbo", 4, 1}}};

/// Returns the model of that name; null if the family has none.
constexpr const shipped_model* find_shipped(std::string_view model) {
  const auto* const it =
    std::find_if(shipped_family.begin(), shipped_family.end(),
                 [&](const auto& x) { return x.name == model; });
  return it == shipped_family.end() ? nullptr : it;
}

/// The name that every variant of the test card has before its steps, unless
/// the configuration gives it another.
inline constexpr std::string_view test_card_model = "test_card";

} // namespace atelier::config
