// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/policies/argus/labels.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace atelier::planning::argus {

namespace {

std::span<const double> row_of(const table& t, size_t row) {
  return {t.cells.data() + row * t.columns, t.columns};
}

} // namespace

uint32_t tolerated_level(std::span<const double> scores, double share) {
  ATELIER_EXPECTS(!scores.empty(), "a ladder has a level");
  double best = -std::numeric_limits<double>::infinity();
  for (const double q : scores)
    if (q > best)
      best = q;
  const double bar = best - (1 - share) * std::abs(best);
  for (size_t v = scores.size(); v-- > 0;)
    if (scores[v] >= bar)
      return static_cast<uint32_t>(v);
  return 0;
}

table class_quality(const table& scores, double share) {
  const size_t levels = scores.columns;
  table sums{levels, levels};
  std::vector<double> count(levels, 0.0);
  std::vector<double> overall(levels, 0.0);
  for (size_t p = 0; p < scores.rows; ++p) {
    const uint32_t c = tolerated_level(row_of(scores, p), share);
    count[c] += 1;
    for (size_t v = 0; v < levels; ++v) {
      sums.at(c, v) += scores.at(p, v);
      overall[v] += scores.at(p, v);
    }
  }
  const auto prompts = static_cast<double>(std::max<size_t>(scores.rows, 1));
  for (size_t c = 0; c < levels; ++c)
    for (size_t v = 0; v < levels; ++v)
      sums.at(c, v) =
        count[c] > 0 ? sums.at(c, v) / count[c] : overall[v] / prompts;
  return sums;
}

void note(recent_classes& into, uint32_t predicted) {
  if (into.last.size() < histogram_length) {
    into.last.push_back(predicted);
    return;
  }
  into.last[into.next] = predicted;
  into.next = (into.next + 1) % histogram_length;
}

std::vector<double> histogram(const recent_classes& recent, size_t levels,
                              std::span<const double> before) {
  std::vector<double> share(levels, 0.0);
  if (levels == 0)
    return share;
  if (recent.last.empty()) {
    double sum = 0;
    for (size_t i = 0; i < std::min(levels, before.size()); ++i) {
      share[i] = before[i];
      sum += before[i];
    }
    // Without any data, nothing is approximated.
    if (!(sum > 0))
      share[0] = sum = 1;
    for (double& x : share)
      x /= sum;
    return share;
  }
  const double one = 1 / static_cast<double>(recent.last.size());
  for (const uint32_t c : recent.last)
    share[std::min<size_t>(c, levels - 1)] += one;
  return share;
}

} // namespace atelier::planning::argus
