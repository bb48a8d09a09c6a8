// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/argus/allocation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace atelier::planning::argus {

namespace {

using core::ec;

core::result<void> sound(const ladder& levels, double rate, uint64_t workers) {
  if (levels.empty())
    return core::fail(ec::invalid_argument, "the ladder has no level");
  for (const level& v : levels)
    if (!(v.seconds > 0) || !std::isfinite(v.seconds)
        || !std::isfinite(v.quality))
      return core::fail(ec::invalid_argument,
                        "level '{}': {} s and quality {} are not a time above "
                        "0 and a number",
                        v.name, v.seconds, v.quality);
  if (!(rate >= 0) || !std::isfinite(rate))
    return core::fail(ec::invalid_argument,
                      "the load {} is not a number of requests a second", rate);
  if (workers == 0)
    return core::fail(ec::unavailable, "no worker exists");
  return {};
}

allocation finished(const ladder& levels, std::vector<uint32_t> workers,
                    std::vector<double> load, bool saturated) {
  allocation out;
  out.workers = std::move(workers);
  out.load = std::move(load);
  out.saturated = saturated;
  const double sum = std::accumulate(out.load.begin(), out.load.end(), 0.0);
  out.share.assign(levels.size(), 0.0);
  for (size_t v = 0; v < levels.size(); ++v) {
    out.quality += levels[v].quality * out.load[v];
    if (sum > 0)
      out.share[v] = out.load[v] / sum;
  }
  if (!(sum > 0))
    out.share[0] = 1;
  return out;
}

allocation all_on(const ladder& levels, size_t v, uint32_t workers, double load,
                  bool saturated) {
  std::vector<uint32_t> n(levels.size(), 0);
  std::vector<double> f(levels.size(), 0.0);
  n[v] = workers;
  f[v] = load;
  return finished(levels, std::move(n), std::move(f), saturated);
}

// Workers that the load does not need keep their level; those without a useful
// hosting move to the slowest level.
std::vector<uint32_t> spread_out(const ladder& levels,
                                 const std::vector<double>& load,
                                 const load_to_place& asked) {
  std::vector<uint32_t> need(levels.size());
  std::vector<uint32_t> n(levels.size());
  int64_t left = asked.workers;
  for (size_t v = 0; v < levels.size(); ++v) {
    constexpr double noise = 1e-7;
    need[v] = static_cast<uint32_t>(
      std::ceil(std::max(0.0, load[v] * levels[v].seconds - noise)));
    n[v] = std::max(need[v], v < asked.hosting.size() ? asked.hosting[v] : 0);
    left -= n[v];
  }
  for (size_t v = levels.size(); v-- > 0 && left < 0;) {
    const auto gives =
      std::min<int64_t>(-left, int64_t{n[v]} - int64_t{need[v]});
    n[v] -= static_cast<uint32_t>(gives);
    left += gives;
  }
  if (left > 0)
    n[0] += static_cast<uint32_t>(left);
  return n;
}

core::result<lp_solution> values_of(const linear_program& p,
                                    const lp_limits& limits) {
  auto found = solve(p, limits);
  if (found && !found->has_values())
    return core::fail(ec::unavailable, "no allocation: the solver says {}",
                      to_string(found->status));
  return found;
}

double capacity_of(const level& v, uint32_t workers) {
  return v.rate() * workers;
}

} // namespace

core::result<allocation> allocate_counts(const ladder& levels,
                                         const load_to_place& asked,
                                         const lp_limits& limits) {
  if (auto ok = sound(levels, asked.rate, asked.workers); !ok)
    return std::move(ok).why();
  const size_t last = levels.size() - 1;
  if (asked.rate <= 0)
    return all_on(levels, 0, asked.workers, 0, false);
  const double most = capacity_of(levels[last], asked.workers);
  if (asked.rate >= most)
    return all_on(levels, last, asked.workers, most, asked.rate > most);

  linear_program p;
  lp_row all{"load", {}, lp_relation::equal, asked.rate};
  lp_row count{
    "workers", {}, lp_relation::at_most, static_cast<double>(asked.workers)};
  std::vector<lp_column_id> load;
  for (const level& v : levels)
    load.push_back(p.add(lp_column{"load of " + v.name, v.quality}));
  for (size_t v = 0; v < levels.size(); ++v) {
    const auto n = p.add(lp_column{"workers on " + levels[v].name, 0, 0,
                                   static_cast<double>(asked.workers), true});
    all.terms.push_back({load[v], 1});
    count.terms.push_back({n, 1});
    p.add(lp_row{"capacity of " + levels[v].name,
                 {{load[v], 1}, {n, -levels[v].rate()}},
                 lp_relation::at_most,
                 0});
    const double price = asked.load_price * levels[v].load_seconds;
    if (price > 0) {
      const auto loads = p.add(lp_column{"loads of " + levels[v].name, -price});
      p.add(lp_row{
        "loads of " + levels[v].name,
        {{n, 1}, {loads, -1}},
        lp_relation::at_most,
        static_cast<double>(v < asked.hosting.size() ? asked.hosting[v] : 0)});
    }
  }
  p.add(std::move(all));
  p.add(std::move(count));
  auto found = values_of(p, limits);
  if (!found)
    return std::move(found).why();
  std::vector<double> f;
  f.reserve(load.size());
  for (const auto id : load)
    f.push_back(std::max(0.0, found->values[id.value]));
  auto n = spread_out(levels, f, asked);
  return finished(levels, std::move(n), std::move(f), false);
}

core::result<allocation> allocate_pooled(const ladder& levels,
                                         const load_to_place& asked) {
  if (auto ok = sound(levels, asked.rate, asked.workers); !ok)
    return std::move(ok).why();
  std::vector<double> f(levels.size(), 0.0);
  const size_t last = levels.size() - 1;
  const double most = capacity_of(levels[last], asked.workers);
  if (asked.rate >= most) {
    f[last] = most;
    return finished(levels, {}, std::move(f), asked.rate > most);
  }
  const double spare =
    asked.rate > 0 ? asked.workers / asked.rate : levels.front().seconds;
  if (spare >= levels.front().seconds) {
    f[0] = asked.rate;
    return finished(levels, {}, std::move(f), false);
  }
  // From fast to slow, levels on or below the line between their neighbours are
  // removed.
  std::vector<size_t> hull;
  for (size_t v = levels.size(); v-- > 0;) {
    const auto under = [&](size_t a, size_t b) {
      const double over = levels[v].seconds - levels[a].seconds;
      return (levels[b].quality - levels[a].quality) * over
          <= (levels[v].quality - levels[a].quality)
               * (levels[b].seconds - levels[a].seconds);
    };
    while (hull.size() > 1 && under(hull[hull.size() - 2], hull.back()))
      hull.pop_back();
    hull.push_back(v);
  }
  size_t upper = 1;
  while (levels[hull[upper]].seconds < spare)
    ++upper;
  const size_t slow = hull[upper];
  const size_t fast = hull[upper - 1];
  const double part = (spare - levels[fast].seconds)
                    / (levels[slow].seconds - levels[fast].seconds);
  f[slow] = asked.rate * part;
  f[fast] = asked.rate * (1 - part);
  return finished(levels, {}, std::move(f), false);
}

core::result<allocation> allocate_limited(const ladder& levels, double rate,
                                          std::span<const worker_group> groups,
                                          double margin,
                                          const lp_limits& limits) {
  uint64_t workers = 0;
  double most = 0;
  std::vector<std::optional<size_t>> fastest;
  for (const worker_group& g : groups) {
    std::optional<size_t> best;
    for (size_t v = 0; v < std::min(levels.size(), g.can.size()); ++v)
      if (g.can[v] != 0)
        best = v;
    fastest.push_back(best);
    if (best) {
      workers += g.count;
      if (levels[*best].seconds > 0)
        most += capacity_of(levels[*best], g.count);
    }
  }
  if (auto ok = sound(levels, rate, workers); !ok)
    return std::move(ok).why();
  std::vector<uint32_t> n(levels.size(), 0);
  std::vector<double> f(levels.size(), 0.0);
  const double wanted = rate * std::max(margin, 1.0);
  if (wanted >= most) {
    for (size_t g = 0; g < groups.size(); ++g)
      if (fastest[g]) {
        n[*fastest[g]] += groups[g].count;
        f[*fastest[g]] += capacity_of(levels[*fastest[g]], groups[g].count);
      }
  } else {
    linear_program p;
    lp_row all{"load", {}, lp_relation::equal, wanted};
    std::vector<lp_row> capacity;
    for (const level& v : levels) {
      const auto load = p.add(lp_column{"load of " + v.name, v.quality});
      all.terms.push_back({load, 1});
      capacity.push_back(
        {"capacity of " + v.name, {{load, 1}}, lp_relation::at_most, 0});
    }
    std::vector<std::pair<size_t, lp_column_id>> counts;
    for (const worker_group& g : groups) {
      lp_row members{
        "group", {}, lp_relation::at_most, static_cast<double>(g.count)};
      for (size_t v = 0; v < std::min(levels.size(), g.can.size()); ++v)
        if (g.can[v] != 0) {
          counts.emplace_back(
            v, p.add(lp_column{"workers on " + levels[v].name, 0, 0,
                               static_cast<double>(g.count), true}));
          members.terms.push_back({counts.back().second, 1});
          capacity[v].terms.push_back(
            {counts.back().second, -levels[v].rate()});
        }
      p.add(std::move(members));
    }
    for (lp_row& r : capacity)
      p.add(std::move(r));
    p.add(std::move(all));
    auto found = values_of(p, limits);
    if (!found)
      return std::move(found).why();
    for (size_t v = 0; v < levels.size(); ++v)
      f[v] = std::max(0.0, found->values[v]);
    for (const auto& [v, id] : counts)
      n[v] += static_cast<uint32_t>(std::lround(found->values[id.value]));
  }
  const double sum = std::accumulate(f.begin(), f.end(), 0.0);
  const double scale = sum > 0 ? std::min(rate, sum) / sum : 0;
  for (double& x : f)
    x *= scale;
  return finished(levels, std::move(n), std::move(f), rate > most);
}

} // namespace atelier::planning::argus
