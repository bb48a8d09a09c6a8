// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/argus/settled.hpp>

#include <algorithm>
#include <numeric>

namespace atelier::planning::argus {

namespace {

// In standard deviations of the load.
constexpr double chance = 2;

} // namespace

core::result<allocation> allocate_within(const ladder& levels, double rate,
                                         std::span<const uint32_t> workers) {
  // Each group has one level, which it has loaded.
  std::vector<worker_group> groups;
  for (size_t v = 0; v < levels.size() && v < workers.size(); ++v)
    if (workers[v] > 0) {
      worker_group g{workers[v], std::vector<char>(levels.size(), 0)};
      g.can[v] = 1;
      groups.push_back(std::move(g));
    }
  constexpr double no_margin = 1;
  auto out = allocate_limited(levels, rate, groups, no_margin);
  if (out)
    out->workers.assign(workers.begin(), workers.end());
  return out;
}

core::result<allocation> allocate_settled(const ladder& levels, double rate,
                                          double least, const allocation& found,
                                          std::span<const uint32_t> before,
                                          settling& state, core::time_point now,
                                          double deviation) {
  hosting_change change;
  for (size_t v = 0; v < found.workers.size(); ++v) {
    const uint32_t had = v < before.size() ? before[v] : 0;
    if (found.workers[v] <= had)
      continue;
    change.moves += found.workers[v] - had;
    change.load_seconds = std::max(change.load_seconds, levels[v].load_seconds);
  }
  const auto sum = [](std::span<const uint32_t> x) {
    return std::accumulate(x.begin(), x.end(), 0u);
  };
  change.workers = sum(before);
  const auto go = [&] {
    state.better_since.reset();
    return found;
  };
  if (change.moves == 0 || change.workers != sum(found.workers))
    return go();
  const auto serves = allocate_within(levels, least, before);
  auto same = allocate_within(levels, rate, before);
  if (!serves || serves->saturated || !same)
    return go();
  change.gain = 1;
  // Returns whether both were compared for the load.
  const auto compare = [&](double load, const core::result<allocation>& kept) {
    const auto other = allocate_within(levels, load, found.workers);
    if (!kept || !other)
      return false;
    if (kept->quality > 0)
      change.gain = std::min(change.gain, other->quality / kept->quality - 1);
    return true;
  };
  if (!compare(rate, same))
    return go();
  for (const double by : {-chance * deviation, chance * deviation}) {
    const double load = std::max(rate + by, 0.0);
    if (!compare(load, allocate_within(levels, load, before)))
      return go();
  }
  return worth_moving(state, change, now) ? core::result<allocation>{found}
                                          : std::move(same);
}

} // namespace atelier::planning::argus
