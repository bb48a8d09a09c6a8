// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/reuse/thresholds.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace atelier::planning {

namespace {

struct pool {
  double from = 0;
  double sum = 0;
  double squares = 0;
  size_t n = 0;

  double mean() const {
    return sum / static_cast<double>(n);
  }

  void take(const pool& other) {
    from = std::min(from, other.from);
    sum += other.sum;
    squares += other.squares;
    n += other.n;
  }
};

kept_block block_of(const pool& p) {
  kept_block out{p.from, p.mean(), -std::numeric_limits<double>::infinity(),
                 p.n};
  if (p.n > 1) {
    // The one-sided 95 % quantile of the normal distribution.
    constexpr double z = 1.6448536269514722;
    const auto n = static_cast<double>(p.n);
    const double variance =
      std::max(0.0, (p.squares - p.sum * p.sum / n) / (n - 1));
    out.low = out.mean - z * std::sqrt(variance / n);
  }
  return out;
}

} // namespace

uint32_t allowed_skip(const skip_table& table, double similarity,
                      threshold_rule rule) {
  uint32_t most = 0;
  for (const skip_threshold& t : table) {
    const bool near = rule == threshold_rule::from ? similarity >= t.similarity
                                                   : similarity > t.similarity;
    if (near)
      most = std::max(most, t.skip);
  }
  return most;
}

std::optional<double> lowest_that_kept(std::span<const reuse_sample> samples,
                                       double alpha) {
  std::optional<double> lowest;
  for (const reuse_sample& s : samples)
    if (s.kept >= alpha && (!lowest || s.similarity < *lowest))
      lowest = s.similarity;
  return lowest;
}

std::vector<kept_block> isotonic(std::vector<reuse_sample> samples,
                                 size_t least) {
  std::erase_if(samples, [](const reuse_sample& s) {
    return !std::isfinite(s.similarity) || !std::isfinite(s.kept);
  });
  std::stable_sort(samples.begin(), samples.end(),
                   [](const reuse_sample& a, const reuse_sample& b) {
                     return a.similarity < b.similarity;
                   });
  // Samples of equal similarity cannot be on different sides of a threshold.
  std::vector<pool> alike;
  for (const reuse_sample& s : samples) {
    const pool next{s.similarity, s.kept, s.kept * s.kept, 1};
    if (!alike.empty() && alike.back().from == s.similarity)
      alike.back().take(next);
    else
      alike.push_back(next);
  }
  std::vector<pool> pools;
  for (const pool& next : alike) {
    pools.push_back(next);
    while (pools.size() > 1
           && pools[pools.size() - 2].mean() >= pools.back().mean()) {
      const pool last = pools.back();
      pools.pop_back();
      pools.back().take(last);
    }
  }
  std::vector<pool> joined;
  for (const pool& p : pools)
    if (!joined.empty() && joined.back().n < least)
      joined.back().take(p);
    else
      joined.push_back(p);
  if (joined.size() > 1 && joined.back().n < least) {
    const pool last = joined.back();
    joined.pop_back();
    joined.back().take(last);
  }
  std::vector<kept_block> out;
  out.reserve(joined.size());
  for (const pool& p : joined)
    out.push_back(block_of(p));
  return out;
}

std::optional<double> reliable_from(std::vector<reuse_sample> samples,
                                    double alpha) {
  const auto blocks = isotonic(std::move(samples));
  std::optional<double> from;
  for (auto b = blocks.rbegin(); b != blocks.rend() && b->low >= alpha; ++b)
    from = b->from;
  return from;
}

skip_table rising_table(
  std::vector<std::pair<uint32_t, std::optional<double>>> found) {
  std::sort(found.begin(), found.end());
  skip_table out;
  for (const auto& [skip, similarity] : found) {
    if (!similarity)
      continue;
    const double low = out.empty() ? *similarity : out.back().similarity;
    out.push_back({skip, std::max(low, *similarity)});
  }
  return out;
}

} // namespace atelier::planning
