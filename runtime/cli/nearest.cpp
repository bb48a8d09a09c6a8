// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/nearest.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace atelier::runtime::cli {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
  const auto best = std::min_element(
    known.begin(), known.end(), [&](const auto& x, const auto& y) {
      return edit_distance(word, x) < edit_distance(word, y);
    });
  return best == known.end() ? std::string{} : *best;
}

} // namespace atelier::runtime::cli
