// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/atelier/detail/counts.hpp>
#include <atelier/planning/policies/atelier/detail/master.hpp>

#include <algorithm>
#include <set>

namespace atelier::planning::unified {

namespace {

std::vector<double> as_parts(std::span<const uint32_t> count) {
  return {count.begin(), count.end()};
}

// How many devices a move takes of a pool.
enum class part_moved : uint8_t { all, half, one };

uint32_t moved_of(uint32_t count, part_moved part) {
  switch (part) {
    case part_moved::all:
      return count;
    case part_moved::half:
      return count / 2;
    case part_moved::one:
      break;
  }
  return 1;
}

// The pools that a pool's devices may go to: those of the same hosting first,
// which cost no load.
std::vector<uint32_t> targets_of(const problem& asked, uint32_t from) {
  std::vector<uint32_t> out;
  const uint32_t h = asked.pools[from].of;
  for (const bool own : {true, false})
    for (uint32_t p = 0; p < asked.pools.size(); ++p) {
      const uint32_t other = asked.pools[p].of;
      if (p != from && (other == h) == own
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
  master m{asked, master::form::fixed, busy_with(asked, as_parts(count)),
           count};
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
                   uint32_t looks, decision& best) {
  std::set<std::vector<uint32_t>> seen{best.count};
  // Returns whether it is better, and then goes on from it.
  const auto look = [&](std::vector<uint32_t> count) {
    if (!seen.insert(count).second)
      return false;
    --looks;
    auto found = spread_over(asked, count, with, used_columns(best));
    if (!found)
      return false;
    count_in(*found, best);
    if (!better(found->values, best.values)) {
      best.solves = found->solves;
      return false;
    }
    best = std::move(*found);
    return true;
  };
  const auto round = [&] {
    for (const auto part : {part_moved::all, part_moved::one, part_moved::half})
      for (uint32_t from = 0; from < asked.pools.size(); ++from) {
        if (best.count[from] == 0)
          continue;
        for (const uint32_t to : targets_of(asked, from)) {
          if (looks == 0)
            return false;
          const uint32_t n = moved_of(best.count[from], part);
          if (n == 0)
            continue;
          auto count = best.count;
          count[from] -= n;
          count[to] += n;
          if (look(std::move(count)))
            return true;
        }
      }
    return false;
  };
  while (looks > 0 && round()) {
  }
}

} // namespace atelier::planning::unified
