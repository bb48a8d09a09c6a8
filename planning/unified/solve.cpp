// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/unified/detail/master.hpp>
#include <atelier/planning/unified/solve.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atelier::planning::unified {

namespace {

using core::ec;
using form = master::form;

core::result<void> sound(std::string_view what, size_t at, double x,
                         double least = 0) {
  if (std::isfinite(x) && x >= least)
    return {};
  return core::fail(ec::invalid_argument, "{} {}: {} is no number from {} on",
                    what, at, x, least);
}

core::result<void> inside(std::string_view what, size_t at, size_t index,
                          size_t size) {
  if (index < size)
    return {};
  return core::fail(ec::invalid_argument, "{} {} names {} of {}", what, at,
                    index, size);
}

std::vector<double> busy_with(const problem& asked,
                              std::span<const double> devices) {
  std::vector<double> out;
  for (size_t p = 0; p < asked.pools.size(); ++p)
    out.push_back(busy_of(asked.pools[p], std::max(devices[p], 1.0)));
  return out;
}

std::vector<double> as_parts(std::span<const uint32_t> count) {
  return {count.begin(), count.end()};
}

core::result<decision> spread_over(const problem& asked,
                                   std::span<const uint32_t> count,
                                   const solve_options& with,
                                   std::span<const uint32_t> hints = {}) {
  master m{asked, form::fixed, busy_with(asked, as_parts(count)), count};
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

// Whole devices near to parts of them: rounded down, then one more for the
// pools whose part is worth most, then what is left to pools that need no load.
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
  std::vector<uint32_t> wanted(asked.hostings.size(), 0);
  for (size_t p = 0; p < pools; ++p)
    wanted[asked.pools[p].of] += out[p];
  // Head-room that costs nothing.
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return parts[a] > parts[b]; });
  for (const size_t p : order) {
    const uint32_t h = asked.pools[p].of;
    if (out[p] == 0 || wanted[h] >= asked.hostings[h].now)
      continue;
    const auto more = static_cast<uint32_t>(
      std::min<int64_t>(left[kind(p)], asked.hostings[h].now - wanted[h]));
    out[p] += more;
    wanted[h] += more;
    left[kind(p)] -= more;
  }
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

// Moves single devices from where they are worth least to where they are worth
// most, as long as that is better.
core::result<void> improve(const problem& asked, const solve_options& with,
                           std::span<const double> parts,
                           std::span<const double> worth, decision& best) {
  const size_t pools = asked.pools.size();
  const auto kind = [&](size_t p) {
    return asked.hostings[asked.pools[p].of].kind;
  };
  auto quick = with;
  // The columns that there are, and what they lead to at once.
  quick.rounds = std::min<uint32_t>(with.rounds, 1);
  // By how much rounding changed them.
  const auto missing = [&](size_t p) { return parts[p] - best.count[p]; };
  for (uint32_t i = 0; i < with.swaps; ++i) {
    std::optional<size_t> to;
    std::optional<size_t> from;
    for (size_t p = 0; p < pools; ++p)
      if (missing(p) > 1e-6
          && (!to || missing(p) * worth[p] > missing(*to) * worth[*to]))
        to = p;
    if (!to)
      break;
    for (size_t p = 0; p < pools; ++p)
      if (p != *to && best.count[p] > 0 && kind(p) == kind(*to)
          && (!from || missing(p) * worth[p] < missing(*from) * worth[*from]))
        from = p;
    if (!from)
      break;
    auto count = best.count;
    ++count[*to];
    --count[*from];
    const auto found = spread_over(asked, count, quick, used_columns(best));
    if (!found)
      return found.why();
    count_in(best, *found);
    if (!better(found->values, best.values))
      break;
    const auto solves = best.solves;
    const auto generated = best.generated;
    best = *found;
    best.solves = solves;
    best.generated = generated;
  }
  return {};
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
      return core::fail(ec::invalid_argument, "mix {} has no segment", i);
    for (const mix_segment& s : asked.mixes[i].segments)
      if (!std::isfinite(s.light) || !std::isfinite(s.all))
        return core::fail(ec::invalid_argument, "mix {}: a factor is infinite",
                          i);
  }
  for (size_t i = 0; i < asked.columns.size(); ++i) {
    const column& c = asked.columns[i];
    if (auto ok = inside("column", i, c.of, asked.classes.size()); !ok)
      return ok;
    if (c.mix)
      if (auto ok = inside("column", i, *c.mix, asked.mixes.size()); !ok)
        return ok;
    if (c.stages > c.work.size())
      return core::fail(ec::invalid_argument, "column {}: {} stages", i,
                        c.stages);
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
    return core::fail(ec::invalid_argument, "{} counts for {} pools",
                      count.size(), asked.pools.size());
  return spread_over(asked, count, with);
}

core::result<decision> solve(const problem& asked, const solve_options& with) {
  if (auto ok = validate(asked); !ok)
    return std::move(ok).why();
  uint64_t devices = 0;
  for (const device_kind& k : asked.kinds)
    devices += k.alive;
  // As busy as many devices could be, and then as those that there are.
  std::vector<double> parts;
  for (const pool& p : asked.pools)
    parts.push_back(asked.kinds[asked.hostings[p.of].kind].alive);
  std::vector<double> busy = busy_with(asked, parts);
  decision bound;
  std::vector<double> worth;
  std::vector<uint32_t> used;
  for (uint32_t pass = 0; pass < std::max(with.passes, 1u); ++pass) {
    master m{asked, form::parts, busy};
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
    // The first pass takes every pool as large as can be: nothing is above it.
    if (pass > 0)
      found.bound = bound.bound;
    bound = std::move(found);
    used = used_columns(bound);
    parts = m.devices();
    worth = m.worth_of_pools();
    const auto next = busy_with(asked, parts);
    double change = 0;
    for (size_t p = 0; p < next.size(); ++p)
      if (parts[p] > 1e-6)
        change = std::max(change, std::abs(next[p] / busy[p] - 1));
    busy = next;
    if (change < 0.02)
      break;
  }

  auto out = spread_over(asked, rounded(asked, parts, worth), with, used);
  if (!out)
    return out;
  count_in(*out, bound);
  out->bound = bound.bound;
  out->worth = bound.worth;
  if (auto ok = improve(asked, with, parts, worth, *out); !ok)
    return std::move(ok).why();
  if (devices <= with.exact_devices
      && asked.columns.size() <= with.exact_columns) {
    // With the busy shares of the parts; then what they are with whole devices.
    master m{asked, form::whole, busy};
    for (uint32_t i = 0; i < asked.columns.size(); ++i)
      m.add(i);
    if (m.solve(0, with.exact_effort, 0)) {
      std::vector<uint32_t> count;
      for (const double n : m.devices())
        count.push_back(static_cast<uint32_t>(n));
      auto all = with;
      all.rounds = 0;
      auto exact = spread_over(asked, count, all);
      if (exact) {
        exact->solves += out->solves + 3;
        if (better(exact->values, out->values)) {
          exact->worth = out->worth;
          exact->bound = out->bound;
          exact->generated = std::max(exact->generated, out->generated);
          out = std::move(exact);
        } else {
          out->solves = exact->solves;
        }
      }
    }
  }
  out->bound = bound.bound;
  out->worth = bound.worth;
  return out;
}

} // namespace atelier::planning::unified
