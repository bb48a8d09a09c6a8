// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/modm/refinement.hpp>
#include <atelier/planning/reuse/scaled_table.hpp>

#include <algorithm>

namespace atelier::planning::modm {

skip_table published_table() {
  return {{5, 0.25}, {10, 0.27}, {15, 0.28}, {25, 0.29}, {30, 0.30}};
}

skip_table calibrate(
  const std::vector<std::pair<uint32_t, std::vector<reuse_sample>>>& by_skip,
  double alpha) {
  std::vector<std::pair<uint32_t, std::optional<double>>> found;
  found.reserve(by_skip.size());
  for (const auto& [skip, samples] : by_skip)
    found.emplace_back(skip, reliable_from(samples, alpha));
  return rising_table(std::move(found));
}

skip_table table_in(const reuse_profile& known) {
  return known.images.empty()
         ? scaled_to(published_table(), reference_steps, known.steps)
         : known.images;
}

std::optional<refinement> refine_with(uint32_t own_steps, uint32_t skip,
                                      uint32_t of) {
  const uint32_t first = scaled_skip(skip, of, own_steps);
  if (first == 0)
    return std::nullopt;
  return refinement{first, own_steps - first};
}

double saved_by_skipping(double hits, const std::vector<double>& skip_shares,
                         std::span<const uint32_t> skips) {
  return saved_with_small(hits, skip_shares, skips, 1);
}

double saved_with_small(double hits, const std::vector<double>& skip_shares,
                        std::span<const uint32_t> skips, double small_cost) {
  double sum = 0;
  for (size_t i = 0; i < std::min(skip_shares.size(), skips.size()); ++i) {
    const double part = static_cast<double>(skips[i]) / reference_steps;
    sum += skip_shares[i] * (part + (1 - part) * (1 - small_cost));
  }
  return hits * sum;
}

} // namespace atelier::planning::modm
