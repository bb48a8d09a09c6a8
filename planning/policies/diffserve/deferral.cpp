// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/diffserve/deferral.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atelier::planning::diffserve {

namespace {

// The tolerance with which thresholds written in few digits match the grid.
constexpr double noise = 1e-9;

} // namespace

deferral_profile unknown_deferral() {
  deferral_profile f;
  f.fill(1);
  f[0] = 0;
  return f;
}

deferral_profile deferral_of(
  std::vector<std::pair<double, double>> threshold_and_share) {
  std::sort(threshold_and_share.begin(), threshold_and_share.end());
  deferral_profile f{};
  auto next = threshold_and_share.begin();
  double share = 0;
  for (size_t k = 0; k < thresholds; ++k) {
    for (; next != threshold_and_share.end()
           && next->first <= threshold_at(k) + noise;
         ++next)
      share = std::clamp(next->second, share, 1.0);
    f[k] = share;
  }
  // No confidence is below the lowest threshold.
  f[0] = 0;
  return f;
}

void add_confidences(deferral_counts& to,
                     std::span<const demand_window> windows) {
  for (const demand_window& w : windows)
    for (size_t k = 0; k < std::min(w.confidences.size(), to.bins.size()); ++k)
      to.bins[k] += static_cast<double>(w.confidences[k]);
}

void fade(deferral_counts& counts) {
  for (double& x : counts.bins)
    x /= 2;
}

deferral_profile blended(const deferral_profile* before,
                         const deferral_counts& counts, double weight) {
  const double all =
    std::accumulate(counts.bins.begin(), counts.bins.end(), 0.0);
  if (before == nullptr && all <= 0)
    return unknown_deferral();
  if (before == nullptr)
    weight = 0;
  deferral_profile f{};
  double below = 0;
  for (size_t k = 0; k < thresholds; ++k) {
    const double table = before != nullptr ? (*before)[k] : 0;
    f[k] = std::min(1.0, (weight * table + below) / (weight + all));
    below += counts.bins[k];
  }
  return f;
}

size_t highest_within(const deferral_profile& f, double share) {
  const auto above = std::upper_bound(f.begin(), f.end(), share + noise);
  return above == f.begin() ? 0 : static_cast<size_t>(above - f.begin()) - 1;
}

size_t lowest_equal(const deferral_profile& f, size_t k) {
  while (k > 0 && f[k - 1] >= f[k])
    --k;
  return k;
}

double confidence_at(const deferral_profile& f, double u) {
  const auto above = std::upper_bound(f.begin(), f.end(), u);
  if (above == f.end())
    return 1;
  const auto k = static_cast<size_t>(above - f.begin());
  if (k == 0)
    return 0;
  const double width = f[k] - f[k - 1];
  const double part = width > 0 ? (u - f[k - 1]) / width : 0;
  return threshold_at(k - 1) + part * (threshold_at(k) - threshold_at(k - 1));
}

} // namespace atelier::planning::diffserve
