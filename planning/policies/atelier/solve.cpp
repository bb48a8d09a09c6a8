// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/atelier/detail/counts.hpp>
#include <atelier/planning/policies/atelier/detail/exact_counts.hpp>
#include <atelier/planning/policies/atelier/detail/lean_problem.hpp>
#include <atelier/planning/policies/atelier/detail/master.hpp>
#include <atelier/planning/policies/atelier/solve.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atelier::planning::unified {

namespace {

using core::ec;

core::result<void> sound(std::string_view what, size_t at, double x,
                         double least = 0) {
  if (std::isfinite(x) && x >= least)
    return {};
  return core::fail(ec::invalid_argument,
                    "{} {}: {} is not a finite number of at least {}", what, at,
                    x, least);
}

core::result<void> inside(std::string_view what, size_t at, size_t index,
                          size_t size) {
  if (index < size)
    return {};
  return core::fail(ec::invalid_argument,
                    "{} {} names index {}, but the size is {}", what, at, index,
                    size);
}

// Rounds parts of devices to whole ones: rounds down, then adds one to the
// pools whose part is worth most, then gives the rest to used pools that need
// no load.
std::vector<uint32_t> rounded(const problem& asked,
                              std::span<const double> parts,
                              std::span<const double> worth) {
  const size_t pools = asked.pools.size();
  std::vector<uint32_t> out(pools, 0);
  std::vector<double> rest(pools, 0.0);
  std::vector<int64_t> left;
  for (const device_kind& k : asked.kinds)
    left.push_back(k.alive);
  const auto kind = [&](size_t p) {
    return asked.hostings[asked.pools[p].of].kind;
  };
  for (size_t p = 0; p < pools; ++p) {
    out[p] = static_cast<uint32_t>(std::max(0.0, std::floor(parts[p] + 1e-6)));
    out[p] = static_cast<uint32_t>(
      std::min<int64_t>(out[p], std::max<int64_t>(left[kind(p)], 0)));
    rest[p] = parts[p] - out[p];
    left[kind(p)] -= out[p];
  }
  std::vector<size_t> order(pools);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return rest[a] * (worth[a] + 1e-9) > rest[b] * (worth[b] + 1e-9);
  });
  for (const size_t p : order)
    if (rest[p] > 1e-6 && left[kind(p)] > 0) {
      ++out[p];
      --left[kind(p)];
    }
  return with_headroom(asked, std::move(out));
}

} // namespace

core::result<void> validate(const problem& asked) {
  for (size_t i = 0; i < asked.classes.size(); ++i)
    for (const double x : {asked.classes[i].rate, asked.classes[i].floor,
                           asked.classes[i].weight})
      if (auto ok = sound("class", i, x); !ok)
        return ok;
  for (size_t i = 0; i < asked.hostings.size(); ++i) {
    if (auto ok =
          inside("hosting", i, asked.hostings[i].kind, asked.kinds.size());
        !ok)
      return ok;
    if (auto ok = sound("hosting", i, asked.hostings[i].load_seconds); !ok)
      return ok;
  }
  for (size_t i = 0; i < asked.pools.size(); ++i) {
    const pool& p = asked.pools[i];
    if (auto ok = inside("pool", i, p.of, asked.hostings.size()); !ok)
      return ok;
    if (!(p.busy > 0 && p.busy <= 1) || !(p.wait >= 0) || p.seats == 0)
      return core::fail(ec::invalid_argument,
                        "pool {}: busy {}, wait {}, {} seats", i, p.busy,
                        p.wait, p.seats);
  }
  for (size_t i = 0; i < asked.mixes.size(); ++i) {
    if (asked.mixes[i].segments.empty())
      return core::fail(ec::invalid_argument, "mix {} has no segments", i);
    for (const mix_segment& s : asked.mixes[i].segments)
      if (!std::isfinite(s.light) || !std::isfinite(s.all))
        return core::fail(ec::invalid_argument,
                          "mix {}: a factor is not finite", i);
  }
  for (size_t i = 0; i < asked.columns.size(); ++i) {
    const column& c = asked.columns[i];
    if (auto ok = inside("column", i, c.of, asked.classes.size()); !ok)
      return ok;
    if (c.mix)
      if (auto ok = inside("column", i, *c.mix, asked.mixes.size()); !ok)
        return ok;
    if (c.legs > c.work.size())
      return core::fail(ec::invalid_argument, "column {}: {} legs are too many",
                        i, c.legs);
    for (const double x : {c.quality, c.light})
      if (auto ok = sound("column", i, x); !ok)
        return ok;
    for (const pool_work& w : c.works()) {
      if (auto ok = inside("column", i, w.pool, asked.pools.size()); !ok)
        return ok;
      if (auto ok = sound("column", i, w.seconds); !ok)
        return ok;
    }
  }
  if (auto ok = sound("period", 0, asked.period); !ok)
    return ok;
  for (const double x : {asked.load_price, asked.fresh})
    if (auto ok = sound("price or share", 0, x); !ok)
      return ok;
  return {};
}

core::result<decision> spread(const problem& asked,
                              std::span<const uint32_t> count,
                              const solve_options& with) {
  if (auto ok = validate(asked); !ok)
    return std::move(ok).why();
  if (count.size() != asked.pools.size())
    return core::fail(ec::invalid_argument, "{} counts do not match {} pools",
                      count.size(), asked.pools.size());
  return spread_over(asked, count, with, {});
}

namespace {

core::result<decision> solve_lean(const problem& asked,
                                  const solve_options& with) {
  uint64_t devices = 0;
  for (const device_kind& k : asked.kinds)
    devices += k.alive;
  // The first pass assumes as many devices as could be, later ones the devices
  // that the pass before chose.
  std::vector<double> parts;
  for (const pool& p : asked.pools)
    parts.push_back(asked.kinds[asked.hostings[p.of].kind].alive);
  std::vector<double> busy = busy_with(asked, parts);
  decision bound;
  std::vector<double> worth;
  std::vector<uint32_t> used;
  std::vector<char> likely(asked.pools.size(), 0);
  for (uint32_t pass = 0; pass < std::max(with.passes, 1u); ++pass) {
    master m{asked, busy};
    m.add_first();
    for (const uint32_t i : used)
      m.add(i);
    if (with.rounds == 0)
      for (uint32_t i = 0; i < asked.columns.size(); ++i)
        m.add(i);
    if (auto ok = m.solve(with.rounds, with.effort, with.gap); !ok)
      return std::move(ok).why();
    auto found = m.found();
    count_in(found, bound);
    // The first pass assumes that every pool is as large as possible: no value
    // is above its bound.
    if (pass > 0)
      found.bound = bound.bound;
    bound = std::move(found);
    used = used_columns(bound);
    parts = m.devices();
    worth = m.worth_of_pools();
    for (size_t p = 0; p < parts.size(); ++p)
      if (parts[p] > 1e-6)
        likely[p] = 1;
    const auto next = busy_with(asked, parts);
    double change = 0;
    for (size_t p = 0; p < next.size(); ++p)
      if (parts[p] > 1e-6)
        change = std::max(change, std::abs(next[p] / busy[p] - 1));
    busy = next;
    if (change < 0.02)
      break;
  }

  const bool few = devices <= with.exact_devices;
  const bool exact = few && asked.columns.size() <= with.exact_columns;
  // Whole counts that are compared exactly need every column.
  auto of_counts = with;
  if (exact)
    of_counts.rounds = 0;
  const auto out = [&](std::vector<uint32_t> count) {
    return spread_over(asked, count, of_counts, used);
  };
  std::vector<uint32_t> floored;
  for (const double part : parts)
    floored.push_back(
      static_cast<uint32_t>(std::max(0.0, std::floor(part + 1e-6))));
  auto best = out(rounded(asked, parts, worth));
  if (!best)
    return best;
  const auto offer = [&](core::result<decision> other) {
    if (!other)
      return;
    other->solves += best->solves;
    if (better(other->values, best->values))
      best = std::move(other);
    else
      best->solves = other->solves;
  };
  // Free headroom may be a loss if it splits a pool, so the counts without it
  // are tried too.
  offer(out(floored));
  if (!exact || !search_all_counts(asked, of_counts, *best))
    search_counts(asked, of_counts, few ? with.looks : with.looks_of_many,
                  likely, *best);
  auto spare = with_headroom(asked, best->count);
  if (spare != best->count)
    if (auto more = out(std::move(spare));
        more && !better(best->values, more->values)) {
      more->solves += best->solves;
      best = std::move(more);
    }
  count_in(*best, bound);
  best->bound = bound.bound;
  best->worth = bound.worth;
  return best;
}

} // namespace

core::result<decision> solve(const problem& asked, const solve_options& with) {
  if (auto ok = validate(asked); !ok)
    return std::move(ok).why();
  const auto lean = without_replaceable(asked);
  auto made = solve_lean(lean.asked, with);
  if (!made)
    return made;
  return widened(lean, std::move(*made), asked.columns.size());
}

} // namespace atelier::planning::unified
