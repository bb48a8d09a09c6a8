// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/argus/drift.hpp>

#include <cmath>
#include <numbers>
#include <numeric>

namespace atelier::planning::argus {

double median_error(const std::vector<double>& values) {
  if (values.size() < 2)
    return 0;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double x : values)
    squares += (x - mean) * (x - mean);
  return std::sqrt(std::numbers::pi / 2 * squares / (n - 1) / n);
}

bool note_score(drift_state& state, double score, const drift_rules& rules) {
  if (!std::isfinite(score))
    return false;
  state.scores.push_back(score);
  if (state.scores.size() < rules.window)
    return false;
  const double now = median(state.scores);
  const double error = median_error(state.scores);
  state.scores.clear();
  bool fallen = false;
  if (state.resting > 0) {
    --state.resting;
  } else if (!state.medians.empty()) {
    const auto n = static_cast<double>(state.medians.size());
    const double mean =
      std::accumulate(state.medians.begin(), state.medians.end(), 0.0) / n;
    // The mean of the history also varies by chance.
    fallen = now < mean - rules.margin * error * std::sqrt(1 + 1 / n);
  }
  if (fallen) {
    state.medians.clear();
    state.resting = rules.rest;
    return true;
  }
  state.medians.push_back(now);
  if (state.medians.size() > rules.history)
    state.medians.erase(state.medians.begin());
  return false;
}

} // namespace atelier::planning::argus
