// SPDX-License-Identifier: Apache-2.0
// needs:  tolerated levels; the matches, if a class starts from them or for a
//         small sample; the mask of an edit
// routes: instgenie's, then every route that the profile offers
// queues: one for each variant; one for each worker for edits
// take:   as vanilla, joining between steps
// memory: devices by pool, classes, confidences, saturation, an explanation
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/hosting_by_demand.hpp>
#include <atelier/planning/policies/argus/shift.hpp>
#include <atelier/planning/policies/atelier/atelier.hpp>
#include <atelier/planning/policies/atelier/detail/atelier_shares.hpp>
#include <atelier/planning/policies/atelier/unified_memory.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/policies/diffserve/queueing.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atelier::planning {

namespace {

using detail::no_rate;
using unified::decision;
using unified::offers;

// Old scores lose half of their weight in this time.
constexpr core::timespan fading = std::chrono::minutes{10};

void take_in(unified_memory& memory, const demand& asked) {
  add_confidences(memory.confidences,
                  detail::windows_since(asked, memory.seen));
  memory.seen = detail::last_end(asked, memory.seen);
  if (asked.now >= core::after(memory.faded, fading)) {
    diffserve::fade(memory.confidences);
    memory.faded = asked.now;
  }
}

// Scores are reported for one judge, that of the first cascade.
std::vector<diffserve::deferral_profile> deferred_by(
  const profile& known, const diffserve::deferral_counts& seen) {
  std::vector<diffserve::deferral_profile> out;
  for (size_t k = 0; k < known.cascades.size(); ++k) {
    const auto& points = known.cascades[k].deferred;
    const auto table = diffserve::deferral_of(points);
    out.push_back(
      diffserve::blended(points.empty() ? nullptr : &table,
                         k == 0 ? seen : diffserve::deferral_counts{}));
  }
  return out;
}

// Returns the planned devices by the current pools.
std::vector<uint32_t> counts_before(const offers& o,
                                    const unified_memory& memory) {
  std::vector<uint32_t> out(o.pools.size(), 0);
  for (const auto& [key, n] : memory.counts)
    for (size_t p = 0; p < o.pools.size(); ++p)
      if (o.pools[p] == key)
        out[p] = n;
  return out;
}

bool fits(const offers& o, const std::vector<uint32_t>& count) {
  std::vector<uint64_t> used(o.asked.kinds.size(), 0);
  for (size_t p = 0; p < count.size(); ++p)
    used[o.asked.hostings[o.asked.pools[p].of].kind] += count[p];
  for (size_t k = 0; k < used.size(); ++k)
    if (used[k] > o.asked.kinds[k].alive)
      return false;
  return true;
}

// Limits the counts to `there` devices of each hosting, the first pools first.
std::vector<uint32_t> limited(const offers& o, std::vector<uint32_t> count,
                              std::vector<uint32_t> there) {
  for (size_t p = 0; p < count.size(); ++p) {
    uint32_t& left = there[o.asked.pools[p].of];
    count[p] = std::min(count[p], left);
    left -= count[p];
  }
  return count;
}

std::vector<uint32_t> hosting_of(const offers& o) {
  std::vector<uint32_t> out;
  for (const unified::hosting& h : o.asked.hostings)
    out.push_back(h.now);
  return out;
}

// Sets the hosting and the batch of each worker. Returns, by hosting, how many
// of its workers host it now.
std::vector<uint32_t> assign(plan& next, const offers& o,
                             const std::vector<uint32_t>& count,
                             const cluster_view& there, const profile& known) {
  std::vector<hosting_target> targets(o.asked.hostings.size());
  for (size_t p = 0; p < count.size(); ++p) {
    hosting_target& t = targets[o.asked.pools[p].of];
    t.hosting = {o.pools[p].variant};
    t.device_kind = o.pools[p].device_kind;
    t.count += count[p];
  }
  const auto target = detail::host(next, there, targets, known);
  std::vector<uint32_t> ready(targets.size(), 0);
  auto left = count;
  for (size_t i = 0; i < target.size(); ++i) {
    if (!target[i])
      continue;
    const uint32_t h = *target[i];
    if (detail::hosts(there.workers[i], targets[h].hosting.front()))
      ++ready[h];
    for (size_t p = 0; p < left.size(); ++p)
      if (o.asked.pools[p].of == h && left[p] > 0) {
        --left[p];
        next.workers[i].batch =
          std::min(o.pools[p].batch, std::max(there.workers[i].max_batch, 1u));
        break;
      }
  }
  return ready;
}

// Returns the gain of other counts of devices, as a fraction of the current
// quality, and how many devices load.
hosting_change change_to(const offers& o, const decision& now,
                         const decision& kept) {
  std::vector<int64_t> more(o.asked.hostings.size(), 0);
  for (size_t p = 0; p < now.count.size(); ++p)
    more[o.asked.pools[p].of] += int64_t{now.count[p]} - int64_t{kept.count[p]};
  hosting_change out;
  out.workers = 0;
  for (const unified::device_kind& k : o.asked.kinds)
    out.workers += k.alive;
  for (size_t h = 0; h < more.size(); ++h)
    if (more[h] > 0) {
      out.moves += static_cast<uint32_t>(more[h]);
      out.load_seconds =
        std::max(out.load_seconds, o.asked.hostings[h].load_seconds);
    }
  out.gain = (kept.values.shortfall - now.values.shortfall + now.values.gain
              - kept.values.gain)
           / std::max(std::abs(kept.values.gain), no_rate);
  // An additional answer is worth more than the quality of all others.
  double rate = 0;
  for (const unified::request_class& c : o.asked.classes)
    rate += c.rate;
  const double answered =
    (kept.values.refused - now.values.refused) / std::max(rate, no_rate);
  if (answered > no_rate)
    out.gain = std::max(out.gain, 0.0) + answered;
  return out;
}

// In standard deviations of the count: a lower bound would be exceeded by
// chance, as every period is tested.
constexpr double chance = 2;

// Returns whether to change the current counts of devices: at once if they
// refuse more than chance explains, otherwise if the change is worth its loads.
bool changes_enough(unified_memory& memory, const offers& o,
                    const decision& now, const decision& kept,
                    double least_gain, core::time_point at) {
  // A plan made in haste is corrected at once.
  const bool hasty = memory.urgent;
  if (now.values.refused
      < kept.values.refused - std::max(chance * o.noise, no_rate))
    return true;
  const auto change = change_to(o, now, kept);
  if (!unified::better(now.values, kept.values)
      || now.values.refused > kept.values.refused + no_rate) {
    memory.settled = {};
    return false;
  }
  if (change.moves == 0)
    return change.gain > least_gain;
  settling_rules rules;
  rules.least_gain = least_gain;
  if (hasty)
    rules.patience = 0;
  return worth_moving(memory.settled, change, at, rules);
}

void note_reasons(unified_memory& memory, const offers& o, const decision& d) {
  memory.why = {};
  memory.why.values = d.values;
  memory.why.bound = d.bound;
  for (size_t k = 0; k < d.worth.size(); ++k)
    if (d.worth[k] > memory.why.helps_by) {
      memory.why.helps_by = d.worth[k];
      memory.why.helps_most = o.asked.kinds[k].name;
    }
}

// Returns the devices and shares to follow: in haste those of the last plan, if
// the demand or the workers have changed, otherwise new ones, if they are worth
// their loads.
core::result<decision> decide(const offers& o, const unified_rules& by,
                              const demand& asked, uint32_t workers,
                              unified_memory& memory) {
  const auto old = counts_before(o, memory);
  const bool planned = !memory.counts.empty();
  // The newest windows of a small load jump by chance, even to and from 0.
  const auto rate = memory.steady.value();
  const bool urgent = planned && !memory.urgent
                   && (memory.workers != workers
                       || diffserve::demand_jumped(rate, memory.rate));
  core::result<decision> found =
    urgent ? unified::spread(o.asked, limited(o, old, hosting_of(o)), by.quick)
           : unified::solve(o.asked, by.solver);
  if (!found)
    return found;
  bool changed = !urgent;
  if (planned && !urgent && fits(o, old)) {
    const auto kept = unified::spread(o.asked, old, by.solver);
    const auto two_periods =
      2 * core::from_seconds(detail::window_seconds(asked));
    const bool settled = asked.now < core::after(memory.changed, two_periods);
    if (kept
        && (!changes_enough(memory, o, *found, *kept, by.least_gain, asked.now)
            || (settled && !memory.urgent && kept->values.refused < no_rate))) {
      auto stays = *kept;
      stays.worth = found->worth;
      stays.bound = found->bound;
      found = std::move(stays);
      changed = false;
    }
  }
  if (changed && found->count != old) {
    memory.changed = asked.now;
    memory.counts.clear();
    for (size_t p = 0; p < found->count.size(); ++p)
      if (found->count[p] > 0)
        memory.counts.emplace_back(o.pools[p], found->count[p]);
  }
  memory.urgent = urgent;
  memory.workers = workers;
  memory.rate = rate;
  return found;
}

// Says whether all requests can be answered, and how many are admitted.
void tell_capacity(plan& next, const offers& o, const decision& d,
                   const demand& asked, bool saturated) {
  const auto refused = std::accumulate(d.refused.begin(), d.refused.end(), 0.0);
  next.feasible = refused > no_rate ? feasibility::no : feasibility::yes;
  if (refused > no_rate)
    next.reason = fmt::format(
      "demand: of {:.6g} requests a second, headroom and the queue included, "
      "{:.6g} cannot be answered in time",
      std::accumulate(o.asked.classes.begin(), o.asked.classes.end(), 0.0,
                      [](double sum, const unified::request_class& c) {
                        return sum + c.rate;
                      }),
      refused);
  next.admitted_rates = unified::admitted(o, d.refused);
  next.saturated = saturated;
  if (saturated)
    next.retry_after =
      core::from_seconds(std::max(1.0, static_cast<double>(asked.backlog)
                                         / std::max(o.rate - refused, 1e-3)));
}

} // namespace

plan atelier_policy::replan(const demand& asked, const profile& known,
                            const cluster_view& there,
                            const plan& previous) const {
  plan next = instgenie_policy::replan(asked, known, there, previous);
  // Variants that the profile does not relate to each other cannot replace each
  // other.
  const bool related = relates_variants(known);
  if (!related && known.variants.size() > 1)
    return host_by_demand(std::move(next), asked, known, there, previous);
  if (!related || known.variants.empty() || there.workers.empty())
    return next;
  unified_memory memory;
  if (const auto* before = previous.memory.as<unified_memory>())
    memory = *before;
  take_in(memory, asked);
  memory.steady = with(memory.steady, asked.windows);
  auto rules = rules_.offers;
  rules.period = std::max(rules.period, detail::window_seconds(asked));
  const auto o = unified::make_offers(
    asked, known, there, deferred_by(known, memory.confidences), rules);
  const auto workers = static_cast<uint32_t>(there.workers.size());
  auto found = decide(o, rules_, asked, workers, memory);
  if (!found)
    return next;
  memory.classes = o.classes;
  memory.saturated = with(memory.saturated, found->values.refused > no_rate, 2);
  note_reasons(memory, o, *found);

  // A device that still loads gets no requests.
  const auto ready = assign(next, o, found->count, there, known);
  const auto usable = limited(o, found->count, ready);
  if (usable != found->count) {
    auto now = o.asked;
    for (size_t h = 0; h < ready.size(); ++h)
      now.hostings[h].now = ready[h];
    if (auto d = unified::spread(now, usable, rules_.solver))
      found = std::move(d);
  }

  memory.first_route = static_cast<uint32_t>(next.routes.size());
  for (const route& r : o.routes)
    detail::add_route(next, r);
  next.thresholds = o.thresholds;
  next.deferred = o.deferred;
  uint64_t searches = 0;
  for (const demand_window& w : asked.windows)
    searches += w.searched;
  detail::write_shares(next, o, *found, searches >= rules_.least_searches,
                       memory);
  tell_capacity(next, o, *found, asked, memory.saturated.on);
  next.provisional = memory.urgent;
  next.memory = std::move(memory);
  return next;
}

choice atelier_policy::choose(const decision_context& by) const {
  const auto* memory = by.in_force.memory.as<unified_memory>();
  if (memory == nullptr || by.wanted.source
      || !detail::leaves_choice(by.wanted))
    return instgenie_policy::choose(by);
  const auto& map = memory->classes;
  uint32_t label = 0;
  if (map.labels > 1) {
    if (!by.known.tolerated) {
      need n;
      n.tolerated = true;
      return n;
    }
    // Without a prediction, nothing is approximated.
    if (map.ladder < by.known.tolerated->size())
      label = std::min((*by.known.tolerated)[map.ladder], map.labels - 1);
  }
  // The draws are the same however often the policy is asked.
  by.random.seek(0);
  const bool looks = by.random.uniform() < rules_.blind_searches;
  uint32_t skip = 0;
  if (map.skips.size() > 1 && detail::may_reuse(by.wanted)
      && (looks || memory->searches[label] != 0)) {
    if (!by.known.near) {
      need n;
      n.near = true;
      n.by = unified::compared_by(by.costs);
      n.hit_from = unified::reused_from(by.costs);
      n.holds.holds = unified::reuse_of(by.costs) == unified::reuse_kind::images
                      ? needed_work::part::image
                      : needed_work::part::state;
      return n;
    }
    skip = unified::allowed_by(by.costs, *by.known.near);
  }
  // A request without known matches uses the shares of its whole label.
  const bool blind = map.skips.size() > 1 && !by.known.near;
  const auto& share = blind
                      ? memory->blind[label]
                      : by.in_force.share[unified::class_in(map, label, skip)];
  const uint32_t at = argus::draw_level(share, by.random);
  const leg& first = by.in_force.routes[at].legs.front();
  if (first.from != origin::latent && first.from != origin::image)
    return go{core::route_id{at}, {}};
  // The best neighbour allows the largest part of the route's skip.
  std::optional<uint32_t> best;
  uint32_t most = 0;
  for (uint32_t i = 0; by.known.near && i < by.known.near->size(); ++i) {
    const auto& one = (*by.known.near)[i];
    const uint32_t allowed = unified::allowed_by(by.costs, {one});
    uint32_t usable = 0;
    if (first.from == origin::image)
      usable = allowed >= first.skip ? first.skip : 0;
    else
      for (const uint32_t k : one.stored)
        if (k <= std::min(allowed, first.skip))
          usable = std::max(usable, k);
    if (usable > most) {
      most = usable;
      best = i;
    }
  }
  if (best)
    return go{core::route_id{at}, best};
  // If no such state is stored, the request runs in full on the variant that it
  // would resume.
  return go{core::route_id{memory->first_route + first.any_of.front().value},
            {}};
}

compared atelier_policy::compares(const profile& known) const {
  return unified::compared_by(known);
}

} // namespace atelier::planning
