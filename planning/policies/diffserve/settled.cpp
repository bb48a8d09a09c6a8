// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/diffserve/settled.hpp>

#include <algorithm>
#include <optional>

namespace atelier::planning::diffserve {

namespace {

// In standard deviations of the count.
constexpr double chance = 2;

// Returns the quality relative to the best of the table, which is 1.
double quality_of(const cascade_plan& p, const quality_table& fid) {
  if (fid.empty())
    return p.deferred;
  const double best = quality_at(fid, best_light_share(fid));
  const double here = quality_at(fid, 1 - p.deferred);
  return best > 0 && here > 0 ? best / here : p.deferred;
}

// Returns the best plan with the workers of `before`; nothing if they do not
// serve the demand.
std::optional<cascade_plan> kept(allocator by, const cascade_problem& asked,
                                 const cascade_plan& before) {
  cascade_problem same = asked;
  same.light_workers = before.light;
  if (const auto p = by(same))
    return *p;
  same.demand *= settled_serves;
  if (const auto p = by(same))
    return *p;
  return std::nullopt;
}

} // namespace

core::result<cascade_plan> allocate_settled(
  allocator by, const cascade_problem& asked, const quality_table& fid,
  double load_seconds, const cascade_plan& before, settling& state,
  core::time_point now, double noise, const settling_rules& rules) {
  auto found = by(asked);
  if (!found || before.light + before.heavy != asked.workers
      || found->light == before.light) {
    state.better_since.reset();
    return found;
  }
  auto same = kept(by, asked, before);
  if (!same && noise > 0) {
    cascade_problem least = asked;
    least.demand = std::max(asked.demand - chance * noise, 0.0);
    same = kept(by, least, before);
  }
  if (!same) {
    state.better_since.reset();
    return found;
  }
  hosting_change change;
  change.gain = quality_of(*found, fid) - quality_of(*same, fid);
  change.moves = found->light > before.light ? found->light - before.light
                                             : before.light - found->light;
  change.workers = asked.workers;
  change.load_seconds = load_seconds;
  return worth_moving(state, change, now, rules) ? std::move(found) : *same;
}

} // namespace atelier::planning::diffserve
