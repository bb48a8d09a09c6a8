// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/reuse/measured_skips.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace atelier::planning {

namespace {

constexpr double margin = 1e-6;

std::optional<double> just_below(std::optional<double> similarity) {
  if (similarity)
    *similarity = std::max(0.0, *similarity - margin);
  return similarity;
}

double mean_kept(std::span<const reuse_sample> samples) {
  double sum = 0;
  for (const auto& x : samples)
    sum += x.kept;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

} // namespace

double kept_of(double image, double full_run, const quality_levels& means) {
  ATELIER_EXPECTS(means.full > means.chance, "full runs are above chance");
  return 1 + (image - full_run) / (means.full - means.chance);
}

measured_skips thresholds_of(std::span<const skip_samples> all, double alpha) {
  std::vector<std::pair<uint32_t, std::optional<double>>> found;
  measured_skips out;
  for (const auto& [skip, samples] : all) {
    found.emplace_back(skip, just_below(reliable_from(samples, alpha)));
    out.evidence.push_back({skip, static_cast<uint32_t>(samples.size()),
                            mean_kept(samples),
                            lowest_that_kept(samples, alpha)});
  }
  std::sort(out.evidence.begin(), out.evidence.end(),
            [](const auto& a, const auto& b) { return a.skip < b.skip; });
  out.latents = rising_table(std::move(found));
  return out;
}

} // namespace atelier::planning
