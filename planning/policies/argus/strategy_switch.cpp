// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/argus/strategy_switch.hpp>

#include <algorithm>

namespace atelier::planning::argus {

namespace {

double saved_by(const switch_scale& scale, double skip) {
  return scale.full_seconds * skip / std::max(scale.steps, 1u);
}

void enter(switch_state& state, switch_phase next, core::time_point now) {
  state.phase = next;
  state.since = now;
  state.seconds.clear();
  state.timeouts = 0;
}

void keep_last(std::vector<double>& list, size_t most) {
  if (list.size() > most)
    list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(most));
}

} // namespace

std::string_view to_string(switch_phase x) {
  switch (x) {
    case switch_phase::latents:
      return "latents";
    case switch_phase::leaving:
      return "leaving";
    case switch_phase::models:
      return "models";
    case switch_phase::returning:
      return "returning";
  }
  return "unknown";
}

bool note_retrieval(switch_state& state, const retrieval& what,
                    const switch_scale& scale, core::time_point now,
                    const switch_rules& rules) {
  state.timeouts = what.failed ? state.timeouts + 1 : 0;
  if (state.phase == switch_phase::latents) {
    if (!what.failed)
      state.seconds.push_back(what.seconds);
    keep_last(state.seconds, rules.window);
    const double most =
      rules.leave_share
      * saved_by(scale, std::max(scale.mean_skip, rules.least_skip));
    const bool slow =
      state.seconds.size() == rules.window && median(state.seconds) > most;
    if (!slow && state.timeouts < rules.timeouts)
      return false;
    enter(state, switch_phase::leaving, now);
    return true;
  }
  if (state.phase != switch_phase::models)
    return false;
  if (what.failed) {
    state.seconds.clear();
    return false;
  }
  state.seconds.push_back(what.seconds);
  keep_last(state.seconds, rules.probes);
  const double most = rules.return_share * saved_by(scale, rules.least_skip);
  const bool quick = state.seconds.size() == rules.probes
                  && std::all_of(state.seconds.begin(), state.seconds.end(),
                                 [&](double x) { return x < most; });
  if (!quick || now < core::after(state.since, rules.stay))
    return false;
  enter(state, switch_phase::returning, now);
  return true;
}

bool all_loaded(switch_state& state, core::time_point now) {
  if (state.phase == switch_phase::leaving)
    enter(state, switch_phase::models, now);
  else if (state.phase == switch_phase::returning)
    enter(state, switch_phase::latents, now);
  else
    return false;
  return true;
}

core::timespan probe_every(const switch_state& state, const switch_scale& scale,
                           const switch_rules& rules) {
  const bool blind =
    state.phase == switch_phase::latents && !(scale.mean_skip > 0);
  return blind || state.phase == switch_phase::models ? rules.between_probes
                                                      : core::timespan{0};
}

bool may_use_cache(switch_phase phase) {
  return phase == switch_phase::latents;
}

} // namespace atelier::planning::argus
