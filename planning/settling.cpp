// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/settling.hpp>

#include <algorithm>

namespace atelier::planning {

settling_rules rules_after(double seconds) {
  settling_rules out;
  out.patience = std::min(out.patience, seconds / 2);
  return out;
}

bool worth_moving(settling& state, const hosting_change& x,
                  core::time_point now, const settling_rules& rules) {
  const double cost = static_cast<double>(x.moves) / std::max(x.workers, 1u)
                    * std::max(x.load_seconds, rules.least_load);
  if (x.gain < rules.least_gain || x.gain * rules.horizon <= cost) {
    state.better_since.reset();
    return false;
  }
  if (!state.better_since)
    state.better_since = now;
  if (core::to_seconds(now - *state.better_since) < rules.patience)
    return false;
  state.better_since.reset();
  return true;
}

} // namespace atelier::planning
