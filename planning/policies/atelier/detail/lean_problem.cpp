// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/atelier/detail/lean_problem.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

namespace atelier::planning::unified {

namespace {

// A column as one of its pools sees it: what it answers, and where its other
// legs run.
struct pool_use {
  uint32_t of = 0;
  uint32_t key = 0;
  std::array<uint32_t, 3> elsewhere{};
  double seconds = 0;
  uint32_t column = 0;

  auto name() const {
    return std::tie(of, key, elsewhere);
  }

  bool operator<(const pool_use& other) const {
    return std::tuple_cat(name(), std::tie(seconds))
         < std::tuple_cat(other.name(), std::tie(other.seconds));
  }
};

constexpr uint32_t own_leg = std::numeric_limits<uint32_t>::max();
constexpr uint32_t no_leg = own_leg - 1;

pool_use use_of(const column& c, uint32_t index, uint32_t pool) {
  pool_use out{c.of, c.key, {no_leg, no_leg, no_leg}, 0, index};
  for (size_t l = 0; l < c.legs; ++l) {
    const bool own = c.work[l].pool == pool;
    out.elsewhere[l] = own ? own_leg : c.work[l].pool;
    out.seconds += own ? c.work[l].seconds : 0;
  }
  return out;
}

// By pool: its columns, sorted.
std::vector<std::vector<pool_use>> uses_of(const problem& asked) {
  std::vector<std::vector<pool_use>> out(asked.pools.size());
  for (uint32_t i = 0; i < asked.columns.size(); ++i) {
    const auto works = asked.columns[i].works();
    for (size_t l = 0; l < works.size(); ++l) {
      const uint32_t pool = works[l].pool;
      const auto same = [&](const pool_work& w) { return w.pool == pool; };
      if (std::none_of(works.begin(),
                       works.begin() + static_cast<std::ptrdiff_t>(l), same))
        out[pool].push_back(use_of(asked.columns[i], i, pool));
    }
  }
  for (auto& uses : out)
    std::sort(uses.begin(), uses.end());
  return out;
}

bool answers_alike(const column& a, const column& b) {
  if (std::tie(a.quality, a.fresh, a.mix, a.light)
      != std::tie(b.quality, b.fresh, b.mix, b.light))
    return false;
  for (size_t l = 0; l < a.legs; ++l)
    if (a.work[l].pool == b.work[l].pool
        && a.work[l].seconds != b.work[l].seconds)
      return false;
  return true;
}

class replacements {
public:
  explicit replacements(const problem& asked)
    : asked_(asked), uses_(uses_of(asked)) {}

  // Whether pool `other` replaces `pool`.
  bool replaces(size_t other, size_t pool) const {
    const auto& a = asked_.pools[pool];
    const auto& b = asked_.pools[other];
    if (a.of != b.of || b.seats < a.seats || b.wait < a.wait || b.busy < a.busy)
      return false;
    auto at = uses_[other].begin();
    for (const pool_use& use : uses_[pool]) {
      while (at != uses_[other].end() && at->name() < use.name())
        ++at;
      if (at == uses_[other].end() || at->name() != use.name()
          || at->seconds > use.seconds
          || !answers_alike(asked_.columns[use.column],
                            asked_.columns[at->column]))
        return false;
    }
    return true;
  }

private:
  const problem& asked_;
  std::vector<std::vector<pool_use>> uses_;
};

} // namespace

lean_problem without_replaceable(const problem& asked) {
  const replacements known{asked};
  std::vector<char> stays(asked.pools.size(), 1);
  for (size_t p = 0; p < stays.size(); ++p)
    for (size_t other = 0; other < stays.size() && stays[p] != 0; ++other)
      if (other != p && stays[other] != 0 && known.replaces(other, p))
        stays[p] = 0;
  lean_problem out;
  out.asked = asked;
  out.asked.columns.clear();
  for (uint32_t i = 0; i < asked.columns.size(); ++i) {
    const auto works = asked.columns[i].works();
    if (!std::all_of(works.begin(), works.end(),
                     [&](const pool_work& w) { return stays[w.pool] != 0; }))
      continue;
    out.asked.columns.push_back(asked.columns[i]);
    out.origin.push_back(i);
  }
  return out;
}

decision widened(const lean_problem& from, decision made, size_t columns) {
  std::vector<double> taken(columns, 0.0);
  for (size_t i = 0; i < made.taken.size(); ++i)
    taken[from.origin[i]] = made.taken[i];
  made.taken = std::move(taken);
  return made;
}

} // namespace atelier::planning::unified
