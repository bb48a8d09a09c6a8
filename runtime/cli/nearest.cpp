// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/nearest.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace atelier::runtime::cli {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the distances between beginnings: of i - 2, i - 1 and i bytes of a.
  std::vector<size_t> two_before(b.size() + 1);
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_before, before);
    std::swap(before, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min(
        {before[j] + 1, row[j - 1] + 1, before[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_before[j - 2] + 1);
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
