// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/nearest.hpp>

#include <algorithm>

namespace atelier::runtime::cli {

std::string nearest(std::string_view word, std::span<const std::string> known) {
  const auto best = std::min_element(
    known.begin(), known.end(), [&](const auto& x, const auto& y) {
      return edit_distance(word, x) < edit_distance(word, y);
    });
  return best == known.end() ? std::string{} : *best;
}

std::string near(std::string_view word, std::span<const std::string> known) {
  constexpr size_t most = 2;
  auto best = nearest(word, known);
  return edit_distance(word, best) <= most ? best : std::string{};
}

} // namespace atelier::runtime::cli
