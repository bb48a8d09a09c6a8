// SPDX-License-Identifier: Apache-2.0
// needs:  the matches
// routes: vanilla's, then a miss, then a hit for each skip
// queues: the large variant's for misses, the small one's for hits; large
//         workers serve both
// take:   large workers take misses first; small ones take only hits
// memory: the split and its inputs, or the controller; saturation
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/policies/modm/modm.hpp>
#include <atelier/planning/policies/modm/modm_memory.hpp>
#include <atelier/planning/policies/modm/refinement.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::planning {

namespace {

uint32_t miss_route(const profile& costs) {
  return static_cast<uint32_t>(costs.variants.size());
}

// Returns the arrivals, hits and skips of the newest windows: of three minutes
// in all, or of one window if that is longer.
// Source: MoDM's artifact, whose window and period are one.
modm::window window_of(const demand& asked, const profile& known,
                       bool backlog) {
  double seconds = 0;
  double arrived = 0;
  double hits = 0;
  std::vector<double> shares;
  std::vector<uint32_t> skips;
  for (size_t i = asked.windows.size();
       i-- > 0 && seconds < 60 * modm::published_minutes;) {
    const demand_window& w = asked.windows[i];
    seconds += core::to_seconds(w.length);
    arrived += static_cast<double>(w.arrived);
    hits += static_cast<double>(w.hits);
    for (const auto& [skip, n] : w.skips) {
      skips.push_back(skip);
      shares.push_back(static_cast<double>(n));
    }
  }
  modm::window out;
  if (!(arrived > 0) || !(seconds > 0))
    return out;
  out.rate = arrived / seconds;
  if (backlog)
    out.rate += static_cast<double>(asked.backlog) / seconds;
  out.hits = std::min(1.0, hits / arrived);
  if (!shares.empty())
    out.left = modm::mean_left(shares, skips, known.reuse->steps);
  return out;
}

// Returns the minutes for the controller's step. It steps once per period, not
// on events in between; the tolerance keeps clock jitter from skipping a
// period.
double minutes_to_step(modm_memory& memory, const demand& asked) {
  constexpr double part_of_period = 0.9;
  if (!memory.split.started) {
    memory.stepped = asked.now;
    return asked.windows.empty() ? 0 : modm::published_minutes;
  }
  const double since = core::to_seconds(asked.now - memory.stepped);
  if (since < part_of_period * core::to_seconds(asked.period))
    return 0;
  memory.stepped = asked.now;
  return since / 60;
}

// The seconds within which the queue should be processed.
constexpr double drain_seconds = 300;

double speed_of(const profile& known, core::variant_id v) {
  return 1
       / std::max(argus::request_seconds(known.variants[v.value], {}), 1e-9);
}

double load_of(const profile& known, core::variant_id v) {
  return core::to_seconds(known.variants[v.value].load);
}

struct split_found {
  uint32_t large = 0;
  uint32_t small = 0;
  modm::serve_mode mode = modm::serve_mode::throughput;
  bool saturated = false;
};

split_found settled_split(modm_memory& memory, const demand& asked,
                          const profile& known, uint32_t workers) {
  const reuse_profile& r = *known.reuse;
  memory.steady = with(memory.steady, asked.windows);
  memory.hits = modm::with(memory.hits, asked.windows, r.steps);
  const double rate =
    detail::rate_with_queue(memory.steady, asked, workers, drain_seconds);
  const double left = memory.hits.at(rate).left;
  std::vector<modm::small_choice> smalls;
  for (const core::variant_id v : r.small)
    smalls.push_back({{speed_of(known, v), left}, load_of(known, v)});
  const auto found =
    modm::plan_settled(workers, speed_of(known, r.full), load_of(known, r.full),
                       smalls, memory.hits, rate, memory.settled, asked.now);
  memory.settled = found.memory;
  return {found.large, found.small, found.mode, found.saturated};
}

split_found stepped_split(const modm_rules& rules, modm_memory& memory,
                          const demand& asked, const profile& known,
                          uint32_t workers) {
  const reuse_profile& r = *known.reuse;
  const auto seen = window_of(asked, known, rules.backlog);
  std::vector<modm::small_model> smalls;
  for (const core::variant_id v : r.small)
    smalls.push_back({speed_of(known, v), seen.left});
  auto split = rules.split;
  split.minutes = minutes_to_step(memory, asked);
  const auto found = modm::plan_split(workers, speed_of(known, r.full), smalls,
                                      seen, memory.split, split);
  memory.split = found.memory;
  return {found.large, found.small, found.mode, found.saturated};
}

} // namespace

plan modm_policy::replan(const demand& asked, const profile& by_kind,
                         const cluster_view& there,
                         const plan& previous) const {
  // The paper's devices are all alike.
  const profile known = mean_over(by_kind, groups_in(there));
  plan next = vanilla::replan(asked, known, there, previous);
  if (!known.reuse || there.workers.empty())
    return next;
  const reuse_profile& r = *known.reuse;
  modm_memory memory;
  if (const auto* before = previous.memory.as<modm_memory>())
    memory = *before;
  const auto workers = static_cast<uint32_t>(there.workers.size());
  const auto found = rules_.settles
                     ? settled_split(memory, asked, known, workers)
                     : stepped_split(rules_, memory, asked, known, workers);
  memory.saturated = with(memory.saturated, found.saturated, 2);

  const core::variant_id small =
    r.small.empty() ? r.full : r.small[found.small];
  const hosting_target targets[] = {{{r.full}, found.large, {}},
                                    {{small}, workers - found.large, {}}};
  const auto target = detail::host(next, there, targets, known);
  const bool helps =
    rules_.share_hits || found.mode == modm::serve_mode::quality;
  for (size_t i = 0; i < target.size(); ++i)
    if (target[i].value_or(1) == 0 && helps && small != r.full)
      next.workers[i].also_serves = {queue_of(small)};

  route miss;
  miss.name = "miss";
  miss.store.image = true;
  miss.legs.push_back(detail::leg_on(r.full));
  const uint32_t first = detail::add_route(next, std::move(miss));
  for (const skip_threshold& t : modm::table_in(*known.reuse)) {
    route hit;
    hit.name = fmt::format("hit, k={}", t.skip);
    hit.store.image = true;
    leg s;
    s.any_of = {small};
    // A variant that would skip none of its own steps cannot refine.
    if (!modm::refine_with(known.variants[small.value].steps, t.skip, r.steps)
        || detail::hosting_now(there, small) == 0)
      s.any_of = {r.full};
    else if (small != r.full)
      s.any_of.push_back(r.full);
    s.from = origin::image;
    s.skip = t.skip;
    s.skip_of = r.steps;
    hit.legs.push_back(std::move(s));
    detail::add_route(next, std::move(hit));
  }
  next.share.assign(1, std::vector<double>(next.routes.size(), 0.0));
  next.share[0][first] = 1;
  next.saturated = memory.saturated.on;
  next.feasible = found.saturated ? feasibility::no : feasibility::yes;
  if (found.saturated)
    next.reason = fmt::format(
      "demand: no split of {} workers between '{}' and '{}' serves all",
      workers, known.variants[r.full.value].name,
      known.variants[small.value].name);
  if (next.saturated)
    next.retry_after = core::from_seconds(
      std::max(1.0, static_cast<double>(asked.backlog)
                      / (workers * speed_of(known, r.full))));
  next.memory = memory;
  return next;
}

choice modm_policy::choose(const decision_context& by) const {
  if (!by.in_force.memory.as<modm_memory>() || !by.costs.reuse
      || !detail::leaves_choice(by.wanted)
      || miss_route(by.costs) >= by.in_force.routes.size())
    return vanilla::choose(by);
  const uint32_t miss = miss_route(by.costs);
  if (!detail::may_reuse(by.wanted))
    return go{core::route_id{miss}, {}};
  const auto table = modm::table_in(*by.costs.reuse);
  // A model of very few steps has none to skip.
  if (table.empty())
    return go{core::route_id{miss}, {}};
  if (!by.known.near) {
    need n;
    n.near = true;
    n.by = images_compared(*by.costs.reuse);
    n.hit_from = table.front().similarity;
    n.holds.holds = needed_work::part::image;
    return n;
  }
  if (by.known.near->empty())
    return go{core::route_id{miss}, {}};
  const uint32_t skip = allowed_skip(table, by.known.near->front().similarity,
                                     threshold_rule::from);
  for (uint32_t i = 0; i < table.size() && skip > 0; ++i)
    if (table[i].skip == skip && miss + 1 + i < by.in_force.routes.size())
      return go{core::route_id{miss + 1 + i}, 0};
  return go{core::route_id{miss}, {}};
}

compared modm_policy::compares(const profile& known) const {
  return known.reuse ? images_compared(*known.reuse) : compared::nothing;
}

taken modm_policy::take(const worker_view& worker,
                        std::span<const waiting> queue, const plan& in_force,
                        core::time_point now) const {
  // The queue of the worker's own hosting precedes the queue that it helps
  // with.
  std::vector<waiting> sorted(queue.begin(), queue.end());
  const auto own = [&](const waiting& row) {
    for (const core::variant_id v : worker.hosting)
      if (row.queue == queue_of(v))
        return true;
    return row.queue == queue_of(worker.worker);
  };
  std::stable_partition(sorted.begin(), sorted.end(), own);
  return vanilla::take(worker, sorted, in_force, now);
}

std::vector<modm_rules> all_modm_rules() {
  modm_rules ours;
  modm_rules paper;
  paper.name = "modm-paper";
  paper.settles = false;
  paper.split.mode = modm::mode_rule::throughput;
  paper.split.as_published = true;
  paper.share_hits = false;
  paper.backlog = false;
  modm_rules quality = paper;
  quality.name = "modm-paper-quality";
  quality.split.mode = modm::mode_rule::quality;
  return {ours, paper, quality};
}

} // namespace atelier::planning
