// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/atelier/detail/counts.hpp>
#include <atelier/planning/policies/atelier/detail/master.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace atelier::planning::unified {

namespace {

std::vector<double> as_parts(std::span<const uint32_t> count) {
  return {count.begin(), count.end()};
}

// Returns the number of devices by hosting.
std::vector<uint32_t> by_hosting(const problem& asked,
                                 std::span<const uint32_t> count) {
  std::vector<uint32_t> out(asked.hostings.size(), 0);
  for (size_t p = 0; p < count.size(); ++p)
    out[asked.pools[p].of] += count[p];
  return out;
}

// Returns how many devices may be busy at the same time, on average.
double capacity_of(const problem& asked, std::span<const uint32_t> count) {
  double sum = 0;
  for (size_t p = 0; p < count.size(); ++p)
    if (count[p] > 0)
      sum += count[p] * busy_of(asked.pools[p], count[p]);
  return sum;
}

// Returns the pools that may take a pool's devices: first those of the same
// hosting, which cost no load. Pools that answer nothing gain nothing.
std::vector<uint32_t> targets_of(const problem& asked,
                                 std::span<const char> answers, uint32_t from) {
  std::vector<uint32_t> out;
  const uint32_t h = asked.pools[from].of;
  for (const bool own : {true, false})
    for (uint32_t p = 0; p < asked.pools.size(); ++p) {
      const uint32_t other = asked.pools[p].of;
      if (p != from && answers[p] != 0 && (other == h) == own
          && asked.hostings[other].kind == asked.hostings[h].kind)
        out.push_back(p);
    }
  return out;
}

} // namespace

std::vector<double> busy_with(const problem& asked,
                              std::span<const double> devices) {
  std::vector<double> out;
  for (size_t p = 0; p < asked.pools.size(); ++p)
    out.push_back(busy_of(asked.pools[p], std::max(devices[p], 1.0)));
  return out;
}

core::result<decision> spread_over(const problem& asked,
                                   std::span<const uint32_t> count,
                                   const solve_options& with,
                                   std::span<const uint32_t> hints) {
  const auto busy = busy_with(asked, as_parts(count));
  std::vector<device_range> ranges;
  for (size_t p = 0; p < count.size(); ++p)
    ranges.push_back({count[p], count[p], busy[p], 0, busy[p]});
  master m{asked, ranges};
  m.add_first();
  for (const uint32_t i : hints)
    m.add(i);
  if (with.rounds == 0)
    for (uint32_t i = 0; i < asked.columns.size(); ++i)
      m.add(i);
  if (auto ok = m.solve(with.rounds, with.effort, with.gap); !ok)
    return std::move(ok).why();
  auto out = m.found();
  out.count.assign(count.begin(), count.end());
  return out;
}

std::vector<char> pools_that_answer(const problem& asked) {
  std::vector<char> out(asked.pools.size(), 0);
  for (const column& c : asked.columns)
    for (const pool_work& w : c.works())
      out[w.pool] = 1;
  return out;
}

std::vector<uint32_t> used_columns(const decision& d) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < d.taken.size(); ++i)
    if (d.taken[i] > 0)
      out.push_back(i);
  return out;
}

void count_in(decision& into, const decision& of) {
  into.solves += of.solves;
  into.generated = std::max(into.generated, of.generated);
}

void search_counts(const problem& asked, const solve_options& with,
                   uint32_t looks, std::span<const char> likely,
                   decision& best) {
  std::set<std::vector<uint32_t>> seen{best.count};
  const auto answers = pools_that_answer(asked);
  // Equal counts are compared with these values, so that noise does not add up.
  auto most = best.values;
  // Tries counts. Returns whether they are better than `best`, which they then
  // replace.
  const auto look = [&](std::vector<uint32_t> count) {
    if (!seen.insert(count).second)
      return false;
    --looks;
    auto found = spread_over(asked, count, with, used_columns(best));
    if (!found)
      return false;
    count_in(*found, best);
    // Among equal counts with the same hostings, the one with more capacity
    // leads to better ones.
    if (!better(found->values, best.values)
        && (better(most, found->values)
            || by_hosting(asked, found->count) != by_hosting(asked, best.count)
            || capacity_of(asked, found->count)
                 <= capacity_of(asked, best.count) + 1e-6)) {
      best.solves = found->solves;
      return false;
    }
    if (better(found->values, most))
      most = found->values;
    best = std::move(*found);
    return true;
  };
  // Moves the best number of devices from one pool to another.
  const auto move = [&](uint32_t from, uint32_t to) {
    const auto begin = best.count;
    bool moved = false;
    for (uint32_t n = begin[from]; n > 0 && looks > 0; n /= 2) {
      auto count = begin;
      count[from] -= n;
      count[to] += n;
      moved = look(std::move(count)) || moved;
    }
    return moved;
  };
  const auto round = [&](bool all) {
    for (uint32_t from = 0; from < asked.pools.size(); ++from) {
      if (best.count[from] == 0)
        continue;
      for (const uint32_t to : targets_of(asked, answers, from))
        if ((likely[to] == 0) == all && move(from, to))
          return true;
      if (looks == 0)
        return false;
    }
    return false;
  };
  // Replaces one pool by another with more or fewer devices. The difference is
  // taken from or given to the other pools.
  const auto replace = [&](uint32_t from, uint32_t to) {
    const auto begin = best.count;
    auto all = begin;
    all[to] += std::exchange(all[from], 0);
    bool replaced = false;
    for (const uint32_t other : targets_of(asked, answers, to)) {
      if (all[other] == 0)
        continue;
      for (const auto& [less, more] :
           {std::pair{other, to}, std::pair{to, other}})
        for (uint32_t n = all[less] / 2; n > 0 && looks > 0; n /= 2) {
          auto count = all;
          count[less] -= n;
          count[more] += n;
          replaced = look(std::move(count)) || replaced;
        }
    }
    return replaced;
  };
  const auto replace_any = [&] {
    for (uint32_t from = 0; from < asked.pools.size() && looks > 0; ++from) {
      if (best.count[from] == 0)
        continue;
      for (const uint32_t to : targets_of(asked, answers, from))
        if (best.count[to] == 0 && replace(from, to))
          return true;
    }
    return false;
  };
  while (looks > 0 && (round(false) || round(true) || replace_any())) {
  }
}

} // namespace atelier::planning::unified
