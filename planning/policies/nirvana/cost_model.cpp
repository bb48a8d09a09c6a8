// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/nirvana/cost_model.hpp>

#include <algorithm>

namespace atelier::planning::nirvana {

double saved_share(std::span<const double> shares,
                   std::span<const uint32_t> skips, uint32_t steps) {
  double sum = 0;
  for (size_t i = 0; i < std::min(shares.size(), skips.size()); ++i)
    sum += shares[i] * skips[i] / std::max(steps, 1u);
  return sum;
}

double mean_seconds(double full, double saved, double search) {
  return full * (1 - saved) + search;
}

double predictor_gain(const predictor_record& of) {
  const double yes =
    of.precision > 0 ? std::min(1.0, of.recall * of.hits / of.precision) : 1;
  return (1 - yes) * of.search_seconds
       - (1 - of.recall) * of.hits * of.hit_saves;
}

bool predictor_pays(const predictor_record& of) {
  return predictor_gain(of) > 0;
}

} // namespace atelier::planning::nirvana
