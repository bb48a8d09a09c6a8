// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace atelier::config {

/// A model that comes with Atelier, and the steps that it takes where nobody
/// says how many.
struct shipped_model {
  std::string_view name;
  uint32_t steps = 0;
};

/// The models of the shipped family, the first of which draws where a request
/// names none.
inline constexpr std::array<shipped_model, 4> shipped_family{
  {{"base", 50}, {"small", 50}, {"tiny", 50}, {"turbo", 4}}};

constexpr bool is_shipped(std::string_view model) {
  return std::any_of(shipped_family.begin(), shipped_family.end(),
                     [&](const auto& x) { return x.name == model; });
}

/// The name that every variant of the test card has before its steps, where
/// nothing says that it is one.
inline constexpr std::string_view test_card_model = "test_card";

} // namespace atelier::config
