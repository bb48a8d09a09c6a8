// SPDX-License-Identifier: Apache-2.0
// needs:  only the request
// routes: vanilla's, then the cascade: light, its judge, heavy
// queues: one for each variant; in the paper's variant one for each worker
// take:   whole batches; rows that cannot end in time are dropped or get their
//         light image
// memory: confidences of light images, trial batches, saturation
// Long, because the rules of the paper and of its baselines share these
// decisions.
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/shift.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/policies/diffserve/baselines.hpp>
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
using rule = diffserve_rules::allocation_rule;

// Old scores lose half of their weight in this time.
constexpr core::timespan fading = std::chrono::minutes{10};

// If workers keep their models, they are split by the arrivals of this time.
constexpr double steady_seconds = 240;

void take_in(diffserve_memory& memory, const demand& asked) {
  for (const demand_window& w : detail::windows_since(asked, memory.seen))
    for (size_t k = 0;
         k < std::min(w.confidences.size(), memory.confidences.bins.size());
         ++k)
      memory.confidences.bins[k] += static_cast<double>(w.confidences[k]);
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

// Returns the deferred fraction by threshold: for a judge that draws its
// scores, the threshold itself; for another judge than the table's, only what
// was measured.
diffserve::deferral_profile deferral(const cascade_profile& c,
                                     const diffserve_rules& rules,
                                     const diffserve::deferral_counts& seen) {
  if (rules.judge == random_judge) {
    diffserve::deferral_profile f{};
    for (size_t k = 0; k < f.size(); ++k)
      f[k] = diffserve::threshold_at(k);
    return f;
  }
  const bool own = rules.judge.empty() || rules.judge == c.judge;
  if (!own || c.deferred.empty())
    return diffserve::blended(nullptr, seen);
  const auto table = diffserve::deferral_of(c.deferred);
  return diffserve::blended(&table, seen);
}

bool is_once(rule r) {
  return r == rule::once || r == rule::once_for_peak;
}

size_t threshold_index(double threshold) {
  return static_cast<size_t>(
    std::lround(threshold * static_cast<double>(diffserve::thresholds - 1)));
}

// Scales a plan that was made for another number of workers, in the same
// proportion.
cascade_plan scaled_to(const fixed_cascade& of, const cascade_problem& p) {
  const double light =
    static_cast<double>(of.light) / static_cast<double>(of.light + of.heavy);
  cascade_plan out;
  out.threshold = threshold_index(of.threshold);
  out.deferred = p.deferred[out.threshold];
  out.light = std::clamp(static_cast<uint32_t>(std::lround(light * p.workers)),
                         1u, p.workers);
  out.heavy = p.workers - out.light;
  out.light_batch = of.light_batch;
  out.heavy_batch = of.heavy_batch;
  return out;
}

core::result<cascade_plan> for_all_time(const diffserve_rules& rules,
                                        const cascade_profile& c,
                                        const cascade_problem& problem) {
  if (rules.allocate != rule::once_for_peak && c.fixed)
    return scaled_to(*c.fixed, problem);
  return diffserve::allocate_for_peak(
    problem,
    c.peak_rate > 0 ? c.peak_rate * rules.provisioning : problem.demand);
}

// Returns whether enough requests arrived to predict the load.
bool knows_load(const diffserve_memory& memory) {
  constexpr double least = 16;
  return memory.steady.arrived >= least;
}

core::result<cascade_plan> settled(const diffserve_rules& rules,
                                   const cascade_profile& c,
                                   const profile& known,
                                   diffserve_memory& memory,
                                   const cascade_problem& problem,
                                   core::time_point now) {
  const auto by = rules.allocate == rule::random ? diffserve::allocate_random
                                                 : diffserve::allocate;
  if (!rules.settles)
    return by(problem);
  if (!memory.decided && knows_load(memory))
    return by(problem);
  // Variants hosted before any demand stay for the first requests.
  const auto before =
    memory.decided ? *memory.decided : diffserve::first_plan(problem);
  const auto load = [&](core::variant_id v) {
    return core::to_seconds(known.variants[v.value].load);
  };
  return diffserve::allocate_settled(
    by, problem, c.fid, std::max(load(c.light), load(c.heavy)), before,
    memory.settled, now, memory.steady.deviation() * rules.provisioning,
    rules_after(core::to_seconds(now - memory.begun.value_or(now))));
}

core::result<cascade_plan> planned(
  const diffserve_rules& rules, const cascade_profile& c, const profile& known,
  diffserve_memory& memory, cascade_problem problem, core::time_point now) {
  switch (rules.queueing) {
    case diffserve_rules::queueing_rule::little:
      break;
    case diffserve_rules::queueing_rule::doubled:
      problem.execution_factor = 2;
      [[fallthrough]];
    case diffserve_rules::queueing_rule::ignored:
      problem.wait_light = problem.wait_heavy = 0;
  }
  switch (rules.allocate) {
    case rule::cascade:
      break;
    case rule::once:
    case rule::once_for_peak:
      return for_all_time(rules, c, problem);
    case rule::fixed_threshold:
      if (memory.decided) {
        problem.threshold = memory.decided->threshold;
      } else {
        auto first = for_all_time(rules, c, problem);
        if (!first)
          return first;
        problem.threshold = first->threshold;
      }
      break;
    case rule::all_light:
    case rule::all_heavy: {
      const bool heavy = rules.allocate == rule::all_heavy;
      const auto& batch = heavy ? problem.heavy_batch : problem.light_batch;
      return diffserve::allocate_single(problem, heavy, batch.value_or(1));
    }
    case rule::random:
      break;
  }
  return settled(rules, c, known, memory, problem, now);
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

} // namespace

leg_times leg_of(const profile& known, core::variant_id variant,
                 uint32_t most_batch, core::timespan judging) {
  return leg_with(known.variants[variant.value], variant, most_batch, judging);
}

plan diffserve_policy::replan(const demand& asked, const profile& by_kind,
                              const cluster_view& there,
                              const plan& previous) const {
  // The paper's workers are all alike.
  const profile known = mean_over(by_kind, groups_in(there));
  plan next = vanilla::replan(asked, known, there, previous);
  if (known.cascades.empty() || there.workers.empty())
    return next;
  const cascade_profile& c = known.cascades.front();
  diffserve_memory memory;
  if (const auto* before = previous.memory.as<diffserve_memory>())
    memory = *before;
  const bool late = timed_out(asked, memory.seen);
  const bool fresh = !detail::windows_since(asked, memory.seen).empty();
  take_in(memory, asked);

  uint32_t most_batch = 1;
  for (const worker_view& w : there.workers)
    most_batch = std::max(most_batch, w.max_batch);
  cascade_problem problem;
  problem.light = leg_of(known, c.light, most_batch, c.judging);
  problem.heavy = leg_of(known, c.heavy, most_batch, core::timespan{0});
  problem.deferred = deferral(c, rules_, memory.confidences);
  problem.workers = static_cast<uint32_t>(there.workers.size());
  problem.slo = core::to_seconds(c.deadline);
  problem.hosting_light = detail::hosting_now(there, c.light);
  problem.hosting_heavy = detail::hosting_now(there, c.heavy);
  const double rate =
    arrival_rate(asked.windows, alpha_of_centre(diffserve::demand_centre));
  memory.steady = with(memory.steady, asked.windows, steady_seconds);
  if (rate > 0 && !memory.begun)
    memory.begun = asked.now;
  const bool by_steady = rules_.settles && rate > 0;
  problem.demand =
    (by_steady ? memory.steady.value() : rate) * rules_.provisioning;
  problem.wait_light =
    wait_for(asked, c.light, problem.light, problem.hosting_light);
  problem.wait_heavy =
    wait_for(asked, c.heavy, problem.heavy, problem.hosting_heavy);
  problem.bypass = rules_.bypass;
  if (rules_.quality_cap && !c.fid.empty())
    problem.most_deferred = 1 - diffserve::best_light_share(c.fid);
  if (rules_.trial_batches) {
    if (memory.decided && fresh) {
      // Sizes that left no time for the heavy leg were too large.
      const bool halves =
        late
        || (rules_.allocate == rule::cascade && memory.decided->heavy == 0);
      memory.light = with_period(memory.light, problem.light, halves);
      memory.heavy = with_period(memory.heavy, problem.heavy, halves);
    }
    problem.light_batch = memory.light.batch;
    problem.heavy_batch = memory.heavy.batch;
  }
  // Without demand, or if the plan is made only once, the old plan stays.
  const bool keeps =
    memory.decided && (rate <= 0 || is_once(rules_.allocate))
    && memory.decided->light + memory.decided->heavy == problem.workers;
  core::result<cascade_plan> found =
    keeps      ? core::result<cascade_plan>{*memory.decided}
    : rate > 0 ? planned(rules_, c, known, memory, problem, asked.now)
               : core::result<cascade_plan>{diffserve::first_plan(problem)};
  if (!found) {
    next.feasible = found.why().code == core::ec::bad_config
                    ? feasibility::never
                    : feasibility::no;
    next.reason = found.why().text;
    return next;
  }
  const bool may_change =
    rules_.settles
    && (rules_.allocate == rule::cascade || rules_.allocate == rule::random);
  if (rate > 0 && (!may_change || knows_load(memory)))
    memory.decided = *found;
  const cascade_plan& p = *found;
  memory.saturated =
    with(memory.saturated, p.step == diffserve::cascade_step::shedding, 2);

  const hosting_target targets[] = {{{c.light}, p.light, {}},
                                    {{c.heavy}, p.heavy, {}}};
  const auto target = detail::host(next, there, targets, known);
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

  route cascade;
  cascade.name = "cascade";
  cascade.late =
    rules_.light_fallback ? late_rule::answer_best : late_rule::drop;
  leg light = detail::leg_on(c.light);
  light.check = gate{rules_.judge.empty() ? c.judge : rules_.judge, 0};
  cascade.legs = {std::move(light), detail::leg_on(c.heavy)};
  const uint32_t at = detail::add_route(next, std::move(cascade));
  next.thresholds = {diffserve::threshold_at(p.threshold)};
  next.deferred = {p.deferred};
  auto& share = next.share.front();
  std::fill(share.begin(), share.end(), 0.0);
  const bool light_there = problem.hosting_light > 0;
  const bool heavy_there = problem.hosting_heavy > 0;
  // A variant that the plan drops gets no more requests: they would keep its
  // last host.
  const bool stays = (light_there ? p.light : p.heavy) > 0;
  if (light_there != heavy_there && stays) {
    share[light_there ? c.light.value : c.heavy.value] = 1;
  } else if (rules_.allocate == rule::random) {
    share[c.heavy.value] = p.deferred;
    share[c.light.value] = 1 - p.deferred;
  } else if (p.direct || p.light == 0) {
    share[c.heavy.value] = 1;
  } else if (p.heavy == 0 || p.threshold == 0) {
    share[c.light.value] = 1;
  } else {
    share[at] = 1;
  }
  if (std::isfinite(p.admitted))
    next.admitted_rates = {p.admitted};
  if (rules_.allocate == rule::cascade && rate > 0) {
    next.feasible = p.step == diffserve::cascade_step::shedding
                    ? feasibility::no
                    : feasibility::yes;
    if (next.feasible == feasibility::no)
      next.reason = fmt::format(
        "demand: of {:.6g} requests a second, over-provisioning included, "
        "'{}' on all {} workers serves {:.6g} within {:.6g} s",
        problem.demand, known.variants[c.light.value].name, problem.workers,
        p.admitted, problem.slo);
  }
  next.saturated = memory.saturated.on;
  if (next.saturated)
    next.retry_after = core::from_seconds(std::max(
      1.0, static_cast<double>(asked.backlog) / std::max(p.admitted, 1e-3)));
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

core::lane_id diffserve_policy::place(const leg& next,
                                      const decision_context& by) const {
  if (!rules_.worker_lanes)
    return vanilla::place(next, by);
  // Source: DiffServe's artifact: all workers of the variant are equally
  // likely.
  std::vector<core::worker_id> able;
  for (const worker_view& w : by.there.workers)
    if (std::find(w.hosting.begin(), w.hosting.end(), next.any_of.front())
        != w.hosting.end())
      able.push_back(w.worker);
  if (able.empty())
    return lane_of(next.any_of.front());
  return lane_of(able[by.random.below(able.size())]);
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
