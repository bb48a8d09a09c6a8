// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/simulation/outcome.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace atelier::runtime::detail {

inline constexpr double joules_of_kwh = 3.6e6;

/// One column of the table of policies.
struct column {
  const char* title;
  /// A sentence without its full stop, for readers of the page.
  const char* meaning;
  std::function<std::string(const outcome&)> cell;
};

/// Returns the columns that are meaningful for these outcomes.
std::vector<column> columns_for(std::span<const outcome> all);

} // namespace atelier::runtime::detail
