// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/atelier/detail/counts.hpp>
#include <atelier/planning/policies/atelier/detail/exact_counts.hpp>
#include <atelier/planning/policies/atelier/detail/master.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace atelier::planning::unified {

namespace {

// Differences below this fraction of all requests are noise of the programs.
constexpr double noise_of_rates = 1e-6;

// By pool: the fewest and the most devices.
using box = std::vector<std::pair<uint32_t, uint32_t>>;

// A part of the search whose best counts are not known yet.
struct open_part {
  phase_values bound;
  box within;
  // The pool whose range is divided, and the end of its lower half.
  size_t pool = 0;
  uint32_t below = 0;
  // Of equal bounds, the later part is nearer to whole counts.
  uint64_t number = 0;

  auto order() const {
    return std::tuple{-bound.refused, -bound.shortfall, bound.gain, number};
  }

  bool operator<(const open_part& other) const {
    return order() < other.order();
  }
};

class count_search {
public:
  count_search(const problem& asked, const solve_options& with, decision& best)
    : asked_(asked), with_(with), best_(best), seen_{best.count} {
    with_.rounds = 0;
    double rates = 0;
    for (const request_class& c : asked.classes)
      rates += c.rate;
    noise_ = noise_of_rates * rates + 1e-7;
    for (const pool& p : asked.pools) {
      auto& does = work_.emplace_back();
      for (uint32_t n = 0; n <= asked.kinds[kind_of(p)].alive; ++n)
        does.push_back(n * busy_of(p, n));
    }
  }

  bool run() {
    box all;
    const auto answers = pools_that_answer(asked_);
    for (size_t p = 0; p < asked_.pools.size(); ++p) {
      const uint32_t alive = asked_.kinds[kind_of(asked_.pools[p])].alive;
      all.emplace_back(0, answers[p] != 0 ? alive : 0);
    }
    look_into(std::move(all));
    while (!open_.empty() && nodes_ < with_.exact_nodes) {
      const open_part part = open_.top();
      open_.pop();
      if (!ahead(part.bound))
        continue;
      auto lower = part.within;
      lower[part.pool].second = part.below;
      look_into(std::move(lower));
      auto upper = part.within;
      upper[part.pool].first = part.below + 1;
      look_into(std::move(upper));
    }
    for (; complete_ && !open_.empty(); open_.pop())
      complete_ = !ahead(open_.top().bound);
    return complete_;
  }

private:
  uint32_t kind_of(const pool& p) const {
    return asked_.hostings[p.of].kind;
  }

  // Whether values are ahead of the best ones by more than noise.
  bool ahead(const phase_values& x) const {
    for (const double more :
         {best_.values.refused - x.refused,
          best_.values.shortfall - x.shortfall, x.gain - best_.values.gain})
      if (std::abs(more) > noise_)
        return more > 0;
    return false;
  }

  // Limits a range to what the other pools' fewest devices leave. Returns
  // whether there are enough devices.
  bool shrink(box& within) const {
    std::vector<int64_t> left;
    for (const device_kind& k : asked_.kinds)
      left.push_back(k.alive);
    for (size_t p = 0; p < within.size(); ++p)
      left[kind_of(asked_.pools[p])] -= within[p].first;
    if (std::any_of(left.begin(), left.end(), [](int64_t n) { return n < 0; }))
      return false;
    for (size_t p = 0; p < within.size(); ++p)
      within[p].second = static_cast<uint32_t>(std::min<int64_t>(
        within[p].second, within[p].first + left[kind_of(asked_.pools[p])]));
    return true;
  }

  // The lowest line from a range's first point that is above all others.
  device_range range_of(size_t p,
                        const std::pair<uint32_t, uint32_t>& n) const {
    const auto& does = work_[p];
    device_range out;
    out.least = n.first;
    out.most = n.second;
    out.busy = busy_of(asked_.pools[p], std::max(n.first, 1u));
    if (n.first == n.second) {
      out.rise = out.busy;
      return out;
    }
    for (uint32_t k = n.first + 1; k <= n.second; ++k)
      out.rise = std::max(out.rise, (does[k] - does[n.first]) / (k - n.first));
    out.start = does[n.first] - out.rise * n.first;
    return out;
  }

  // Bounds a part of the search, tries the whole counts that its bound
  // suggests, and keeps the part if better counts may be in it.
  void look_into(box within) {
    if (!shrink(within))
      return;
    std::vector<device_range> ranges;
    for (size_t p = 0; p < within.size(); ++p)
      ranges.push_back(range_of(p, within[p]));
    master m{asked_, ranges};
    for (uint32_t i = 0; i < asked_.columns.size(); ++i)
      m.add(i);
    ++nodes_;
    const auto hopeful = m.solve(0, with_.effort, 0, &best_.values, noise_);
    best_.solves += m.solves();
    if (!hopeful)
      complete_ = false;
    if (!hopeful || !*hopeful)
      return;
    const auto work = m.work();
    const auto needed = devices_for(work, within);
    try_counts(fitting(needed, work));
    open_part part{m.found().values, {}, 0, 0, nodes_};
    if (!ahead(part.bound))
      return;
    // Divides the range whose line is furthest above whole counts.
    double furthest = -1;
    for (size_t p = 0; p < within.size(); ++p) {
      const auto [least, most] = within[p];
      if (least == most)
        continue;
      const double on_line = std::clamp(
        ranges[p].rise > 0 ? (work[p] - ranges[p].start) / ranges[p].rise : 0.0,
        static_cast<double>(least), static_cast<double>(most));
      const double off =
        needed[p] - on_line + 1e-9 * static_cast<double>(most - least);
      if (off <= furthest)
        continue;
      furthest = off;
      part.pool = p;
      part.below =
        std::clamp(static_cast<uint32_t>(on_line + 1e-9), least, most - 1);
    }
    if (furthest < 0)
      return;
    part.within = std::move(within);
    open_.push(std::move(part));
  }

  // By pool: the fewest devices of its range that do the work.
  std::vector<uint32_t> devices_for(const std::vector<double>& work,
                                    const box& within) const {
    std::vector<uint32_t> out;
    for (size_t p = 0; p < within.size(); ++p) {
      uint32_t n = within[p].first;
      while (n < within[p].second && work_[p][n] < work[p] * (1 - 1e-9))
        ++n;
      out.push_back(n);
    }
    return out;
  }

  // Takes devices away where the least work is lost, until there are enough.
  std::vector<uint32_t> fitting(std::vector<uint32_t> count,
                                const std::vector<double>& work) const {
    std::vector<int64_t> left;
    for (const device_kind& k : asked_.kinds)
      left.push_back(k.alive);
    for (size_t p = 0; p < count.size(); ++p)
      left[kind_of(asked_.pools[p])] -= count[p];
    for (size_t k = 0; k < left.size(); ++k)
      for (; left[k] < 0; ++left[k]) {
        std::optional<size_t> from;
        double least = 0;
        for (size_t p = 0; p < count.size(); ++p) {
          if (kind_of(asked_.pools[p]) != k || count[p] == 0)
            continue;
          const double lost = work[p] - work_[p][count[p] - 1];
          if (!from || lost < least) {
            from = p;
            least = lost;
          }
        }
        --count[*from];
      }
    return count;
  }

  void try_counts(std::vector<uint32_t> count) {
    if (!seen_.insert(count).second)
      return;
    auto found = spread_over(asked_, count, with_, {});
    if (!found)
      return;
    found->solves += best_.solves;
    if (ahead(found->values))
      best_ = std::move(*found);
    else
      best_.solves = found->solves;
  }

  const problem& asked_;
  solve_options with_;
  decision& best_;
  double noise_ = 0;
  // By pool: the seconds of work per second that so many devices do.
  std::vector<std::vector<double>> work_;
  std::set<std::vector<uint32_t>> seen_;
  std::priority_queue<open_part> open_;
  uint64_t nodes_ = 0;
  bool complete_ = true;
};

} // namespace

bool search_all_counts(const problem& asked, const solve_options& with,
                       decision& best) {
  return count_search{asked, with, best}.run();
}

std::vector<uint32_t> with_headroom(const problem& asked,
                                    std::vector<uint32_t> count) {
  std::vector<int64_t> left;
  for (const device_kind& k : asked.kinds)
    left.push_back(k.alive);
  std::vector<uint32_t> wanted(asked.hostings.size(), 0);
  for (size_t p = 0; p < count.size(); ++p) {
    wanted[asked.pools[p].of] += count[p];
    left[asked.hostings[asked.pools[p].of].kind] -= count[p];
  }
  std::vector<size_t> order(count.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return count[a] > count[b]; });
  for (const size_t p : order) {
    const hosting& h = asked.hostings[asked.pools[p].of];
    uint32_t& there = wanted[asked.pools[p].of];
    if (count[p] == 0 || there >= h.now || left[h.kind] <= 0)
      continue;
    const auto more =
      static_cast<uint32_t>(std::min<int64_t>(left[h.kind], h.now - there));
    count[p] += more;
    there += more;
    left[h.kind] -= more;
  }
  return count;
}

} // namespace atelier::planning::unified
