// SPDX-License-Identifier: Apache-2.0
// needs:  only the request
// routes: vanilla's, then the cascade: light, its judge, heavy
// queues: one for each variant; in the paper's variant one for each worker
// take:   whole batches; rows that cannot end in time are dropped or get their
//         light image
// memory: confidences of light images, the last plan, saturation
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/shift.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/policies/diffserve/diffserve.hpp>
#include <atelier/planning/policies/diffserve/diffserve_memory.hpp>
#include <atelier/planning/policies/diffserve/quality.hpp>
#include <atelier/planning/policies/diffserve/queueing.hpp>
#include <atelier/planning/policies/diffserve/settled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace atelier::planning {

namespace {

using diffserve::cascade_plan;
using diffserve::cascade_problem;
using diffserve::leg_times;

// Old scores lose half of their weight in this time.
constexpr core::timespan fading = std::chrono::minutes{10};

// If workers keep their models, they are split by the arrivals of this time.
constexpr double steady_seconds = 240;

void take_in(diffserve_memory& memory, const demand& asked) {
  add_confidences(memory.confidences,
                  detail::windows_since(asked, memory.seen));
  memory.seen = detail::last_end(asked, memory.seen);
  if (asked.now >= core::after(memory.faded, fading)) {
    diffserve::fade(memory.confidences);
    memory.faded = asked.now;
  }
}

bool timed_out(const demand& asked, core::time_point seen) {
  const auto fresh = detail::windows_since(asked, seen);
  return std::any_of(fresh.begin(), fresh.end(),
                     [](const demand_window& w) { return w.late > 0; });
}

// Returns the seconds that a leg waits for a variant, by Little's law.
double wait_for(const demand& asked, core::variant_id variant,
                const leg_times& of, uint32_t workers) {
  const size_t v = variant.value;
  const double waiting =
    v < asked.waiting.size() ? static_cast<double>(asked.waiting[v]) : 0;
  std::vector<demand_window> placed;
  for (demand_window w : asked.windows) {
    w.arrived = v < w.placed.size() ? w.placed[v] : 0;
    placed.push_back(std::move(w));
  }
  const double arrivals =
    arrival_rate(placed, alpha_of_centre(diffserve::demand_centre));
  const double most = diffserve::throughput(of, of.batches.back().batch);
  return diffserve::waiting_seconds(waiting, arrivals, workers, most);
}

// Returns whether enough requests arrived to predict the load.
bool knows_load(const diffserve_memory& memory) {
  constexpr double least = 16;
  return memory.steady.arrived >= least;
}

uint32_t largest_batch(const cluster_view& there) {
  uint32_t most = 1;
  for (const worker_view& w : there.workers)
    most = std::max(most, w.max_batch);
  return most;
}

// Returns the times of a leg on devices with these costs.
leg_times leg_with(const variant_profile& v, core::variant_id variant,
                   uint32_t most_batch, core::timespan judging) {
  std::set<uint32_t> sizes{1};
  for (const step_cost& s : v.step)
    if (s.batch <= most_batch)
      sizes.insert(std::max(s.batch, 1u));
  leg_times out;
  out.variant = variant;
  out.judge_seconds = core::to_seconds(judging);
  for (const uint32_t n : sizes) {
    const auto steps = step_time(v, n, v.native_px) * v.steps;
    const auto each = (v.text + v.decode + judging) * n;
    out.batches.push_back({n, core::to_seconds(steps + each)});
  }
  return out;
}

// Sets the variant, the batch and the batch's time of each worker.
void host_legs(plan& next, const cascade_case& x, const cascade_plan& p,
               const profile& by_kind, const cluster_view& there) {
  const cascade_profile& c = x.cascade;
  const uint32_t most_batch = largest_batch(there);
  const hosting_target targets[] = {{{c.light}, p.light, {}},
                                    {{c.heavy}, p.heavy, {}}};
  const auto target = detail::host(next, there, targets, x.known);
  for (size_t i = 0; i < target.size(); ++i) {
    assignment& a = next.workers[i];
    a.join = joining::whole_batch;
    const bool heavy = target[i].value_or(0) == 1;
    a.batch = std::min(heavy ? p.heavy_batch : p.light_batch,
                       std::max(there.workers[i].max_batch, 1u));
    // A guessed batch time makes no request late.
    const auto& kind = there.workers[i].device_kind;
    const auto v = heavy ? c.heavy : c.light;
    if (!guessed_on(by_kind, v, kind))
      a.batch_time = core::from_seconds(batch_seconds(
        leg_with(on_kind(by_kind, v, kind), v, most_batch,
                 heavy ? core::timespan{0} : judging_on(by_kind, c, kind)),
        a.batch));
  }
}

} // namespace

leg_times leg_of(const profile& known, core::variant_id variant,
                 uint32_t most_batch, core::timespan judging) {
  return leg_with(known.variants[variant.value], variant, most_batch, judging);
}

std::string diffserve_policy::judge_of(const cascade_profile& of) const {
  return of.judge;
}

diffserve::deferral_profile diffserve_policy::deferral(
  const cascade_profile& of, const diffserve::deferral_counts& seen) const {
  if (of.deferred.empty())
    return diffserve::blended(nullptr, seen);
  const auto table = diffserve::deferral_of(of.deferred);
  return diffserve::blended(&table, seen);
}

cascade_case diffserve_policy::case_of(const demand& asked,
                                       const profile& known,
                                       const cluster_view& there,
                                       diffserve_memory& memory) const {
  cascade_case x{known, known.cascades.front(), asked.now};
  x.late = timed_out(asked, memory.seen);
  x.fresh = !detail::windows_since(asked, memory.seen).empty();
  take_in(memory, asked);
  const cascade_profile& c = x.cascade;
  const uint32_t most_batch = largest_batch(there);
  cascade_problem& problem = x.problem;
  problem.light = leg_of(known, c.light, most_batch, c.judging);
  problem.heavy = leg_of(known, c.heavy, most_batch, core::timespan{0});
  problem.deferred = deferral(c, memory.confidences);
  problem.workers = static_cast<uint32_t>(there.workers.size());
  problem.slo = core::to_seconds(c.deadline);
  problem.hosting_light = detail::hosting_now(there, c.light);
  problem.hosting_heavy = detail::hosting_now(there, c.heavy);
  x.rate =
    arrival_rate(asked.windows, alpha_of_centre(diffserve::demand_centre));
  memory.steady = with(memory.steady, asked.windows, steady_seconds);
  if (x.rate > 0 && !memory.begun)
    memory.begun = asked.now;
  const bool by_steady = rules_.settles && x.rate > 0;
  problem.demand =
    (by_steady ? memory.steady.value() : x.rate) * rules_.provisioning;
  problem.wait_light =
    wait_for(asked, c.light, problem.light, problem.hosting_light);
  problem.wait_heavy =
    wait_for(asked, c.heavy, problem.heavy, problem.hosting_heavy);
  problem.bypass = rules_.bypass;
  if (rules_.quality_cap && !c.fid.empty())
    problem.most_deferred = 1 - diffserve::best_light_share(c.fid);
  return x;
}

core::result<cascade_plan> diffserve_policy::decide(
  const cascade_case& x, diffserve_memory& memory) const {
  if (!(x.rate > 0)) {
    const auto& old = memory.decided;
    return old && old->light + old->heavy == x.problem.workers
           ? *old
           : diffserve::first_plan(x.problem);
  }
  auto found = planned(x, memory);
  if (found && (!rules_.settles || knows_load(memory)))
    memory.decided = *found;
  return found;
}

core::result<cascade_plan> diffserve_policy::planned(
  const cascade_case& x, diffserve_memory& memory) const {
  return settled(diffserve::allocate, x, memory);
}

core::result<cascade_plan> diffserve_policy::settled(
  diffserve::allocator by, const cascade_case& x,
  diffserve_memory& memory) const {
  if (!rules_.settles)
    return by(x.problem);
  if (!memory.decided && knows_load(memory))
    return by(x.problem);
  // Variants hosted before any demand stay for the first requests.
  const auto before =
    memory.decided ? *memory.decided : diffserve::first_plan(x.problem);
  const auto load = [&](core::variant_id v) {
    return core::to_seconds(x.known.variants[v.value].load);
  };
  return diffserve::allocate_settled(
    by, x.problem, x.cascade.fid,
    std::max(load(x.cascade.light), load(x.cascade.heavy)), before,
    memory.settled, x.now, memory.steady.deviation() * rules_.provisioning,
    rules_after(core::to_seconds(x.now - memory.begun.value_or(x.now))));
}

cascade_shares diffserve_policy::shares_of(const cascade_plan& p) const {
  cascade_shares out;
  if (p.direct || p.light == 0)
    out.heavy = 1;
  else if (p.heavy == 0 || p.threshold == 0)
    out.light = 1;
  else
    out.judged = 1;
  return out;
}

bool diffserve_policy::tells_feasibility() const {
  return true;
}

// Adds the route of the cascade, its threshold, and the shares of requests.
void diffserve_policy::add_cascade(plan& next, const cascade_case& x,
                                   const cascade_plan& p) const {
  const cascade_profile& c = x.cascade;
  route cascade;
  cascade.name = "cascade";
  cascade.late =
    rules_.light_fallback ? late_rule::answer_best : late_rule::drop;
  leg light = detail::leg_on(c.light);
  light.check = gate{judge_of(c), 0};
  cascade.legs = {std::move(light), detail::leg_on(c.heavy)};
  const uint32_t at = detail::add_route(next, std::move(cascade));
  next.thresholds = {diffserve::threshold_at(p.threshold)};
  next.deferred = {p.deferred};
  auto& share = next.share.front();
  std::fill(share.begin(), share.end(), 0.0);
  const bool light_there = x.problem.hosting_light > 0;
  const bool heavy_there = x.problem.hosting_heavy > 0;
  // A variant that the plan drops gets no more requests: they would keep its
  // last host.
  const bool stays = (light_there ? p.light : p.heavy) > 0;
  if (light_there != heavy_there && stays) {
    share[light_there ? c.light.value : c.heavy.value] = 1;
  } else {
    const auto parts = shares_of(p);
    share[c.light.value] += parts.light;
    share[c.heavy.value] += parts.heavy;
    share[at] += parts.judged;
  }
}

// Says what the workers can serve, and whether that is enough.
void diffserve_policy::tell_capacity(plan& next, const cascade_case& x,
                                     const cascade_plan& p) const {
  if (std::isfinite(p.admitted))
    next.admitted_rates = {p.admitted};
  if (!tells_feasibility() || !(x.rate > 0))
    return;
  next.feasible = p.step == diffserve::cascade_step::shedding
                  ? feasibility::no
                  : feasibility::yes;
  if (next.feasible == feasibility::no)
    next.reason = fmt::format(
      "demand: of {:.6g} requests a second, over-provisioning included, "
      "'{}' on all {} workers serves {:.6g} within {:.6g} s",
      x.problem.demand, x.known.variants[x.cascade.light.value].name,
      x.problem.workers, p.admitted, x.problem.slo);
}

plan diffserve_policy::replan(const demand& asked, const profile& by_kind,
                              const cluster_view& there,
                              const plan& previous) const {
  // The paper's workers are all alike.
  const profile known = mean_over(by_kind, groups_in(there));
  plan next = vanilla::replan(asked, known, there, previous);
  if (known.cascades.empty() || there.workers.empty())
    return next;
  diffserve_memory memory;
  if (const auto* before = previous.memory.as<diffserve_memory>())
    memory = *before;
  const auto x = case_of(asked, known, there, memory);
  const auto found = decide(x, memory);
  if (!found) {
    next.feasible = found.why().code == core::ec::bad_config
                    ? feasibility::never
                    : feasibility::no;
    next.reason = found.why().text;
    return next;
  }
  memory.saturated =
    with(memory.saturated, found->step == diffserve::cascade_step::shedding, 2);
  host_legs(next, x, *found, by_kind, there);
  add_cascade(next, x, *found);
  tell_capacity(next, x, *found);
  next.saturated = memory.saturated.on;
  if (next.saturated)
    next.retry_after =
      core::from_seconds(std::max(1.0, static_cast<double>(asked.backlog)
                                         / std::max(found->admitted, 1e-3)));
  next.memory = memory;
  return next;
}

choice diffserve_policy::choose(const decision_context& by) const {
  if (!by.in_force.memory.as<diffserve_memory>() || by.in_force.share.empty()
      || !detail::leaves_choice(by.wanted))
    return vanilla::choose(by);
  by.random.seek(0);
  const uint32_t at = argus::draw_level(by.in_force.share.front(), by.random);
  return go{core::route_id{at}, {}};
}

core::queue_id diffserve_policy::place(const leg& next,
                                       const decision_context& by) const {
  if (!rules_.worker_queues)
    return vanilla::place(next, by);
  // Source: DiffServe's artifact: all workers of the variant are equally
  // likely.
  std::vector<core::worker_id> able;
  for (const worker_view& w : by.there.workers)
    if (std::find(w.hosting.begin(), w.hosting.end(), next.any_of.front())
        != w.hosting.end())
      able.push_back(w.worker);
  if (able.empty())
    return queue_of(next.any_of.front());
  return queue_of(able[by.random.below(able.size())]);
}

taken diffserve_policy::take(const worker_view& worker,
                             std::span<const waiting> queue,
                             const plan& in_force, core::time_point now) const {
  const auto of = std::find_if(
    in_force.workers.begin(), in_force.workers.end(),
    [&](const assignment& a) { return a.worker == worker.worker; });
  const bool planned = of != in_force.workers.end();
  const uint32_t most = planned ? std::max(of->batch, 1u) : 1;
  const auto rows = static_cast<uint32_t>(
    std::min<size_t>(most, worker.seats_taken + queue.size()));
  taken some;
  for (const waiting& row : queue) {
    // A batch takes longer than this row alone.
    auto needs = row.still_needs;
    if (planned && of->batch_time > needs)
      needs += most == 1 ? of->batch_time - needs
                         : (of->batch_time - needs) * (rows - 1) / (most - 1);
    if (core::after(now, needs) > row.deadline)
      some.late.push_back(row.request);
    else if (some.join.size() < worker.seats_free)
      some.join.push_back(row.request);
  }
  return some;
}

} // namespace atelier::planning
