// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace atelier::config {

/// A model that comes with Atelier, and its steps and guidance where nobody
/// says others.
struct shipped_model {
  std::string_view name;
  uint32_t steps = 0;
  float guidance = 1;
};

/// The models of the shipped family, the first of which draws where a request
/// names none.
inline constexpr std::array<shipped_model, 4> shipped_family{
  {{"base", 50, 2}, {"small", 50, 2}, {"tiny", 50, 2}, {"turbo", 4, 1}}};

/// Returns the model of that name; null where the family has none.
constexpr const shipped_model* find_shipped(std::string_view model) {
  const auto* const it =
    std::find_if(shipped_family.begin(), shipped_family.end(),
                 [&](const auto& x) { return x.name == model; });
  return it == shipped_family.end() ? nullptr : it;
}

/// The name that every variant of the test card has before its steps, where
/// nothing says that it is one.
inline constexpr std::string_view test_card_model = "test_card";

} // namespace atelier::config
