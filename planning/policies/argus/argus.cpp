// SPDX-License-Identifier: Apache-2.0
// The plans of argus; its choices are in argus_choice.cpp.
// needs:  tolerated levels; the matches, if the level skips steps
// routes: vanilla's, then one for each level of the ladder in use
// queues: one for each variant; in the paper's variant one for each worker
// take:   as vanilla
// memory: phase of the change between both ladders, saturation
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/argus.hpp>
#include <atelier/planning/policies/argus/argus_memory.hpp>
#include <atelier/planning/policies/argus/argus_parts.hpp>
#include <atelier/planning/policies/argus/settled.hpp>
#include <atelier/planning/policies/detail/common.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace atelier::planning {

namespace {

using argus::level;
using argus::switch_phase;
using detail::add_route;
using detail::hosts;

// Source: the paper does not specify the moving mean of arrivals.
constexpr double newest_weight = 0.5;

// The load is taken from the arrivals of `steady_seconds`, or of
// `settled_seconds` if models would have to load; the queue should be processed
// within `drain_seconds`.
constexpr double steady_seconds = 60;
constexpr double settled_seconds = 240;
constexpr double drain_seconds = 60;

// Workers that keep their models must serve at least this fraction of the load;
// other allocations are planned with this headroom, so that chance does not
// undo them.
constexpr double settled_serves = 0.95;
constexpr double settled_head_room = 1.1;

// Counts each retrieval once, although several windows may report it.
void hear(argus_memory& memory, std::span<const retrieval_sample> what,
          core::time_point usual) {
  for (const retrieval_sample& r : what) {
    const auto at = r.time == core::time_point{} ? usual : r.time;
    if (at <= memory.heard)
      continue;
    argus::note_retrieval(memory.change, {r.seconds, r.failed}, memory.scale,
                          at);
  }
}

core::time_point last_heard(std::span<const retrieval_sample> what,
                            core::time_point before) {
  for (const retrieval_sample& r : what)
    before = std::max(before, r.time);
  return before;
}

void take_in(argus_memory& memory, const demand& asked,
             const cluster_view& there) {
  for (const demand_window& w : detail::windows_since(asked, memory.seen)) {
    hear(memory, w.retrievals, core::after(w.begin, w.length));
    memory.heard = last_heard(w.retrievals, memory.heard);
  }
  hear(memory, there.retrievals, asked.now);
  memory.heard = last_heard(there.retrievals, memory.heard);
  memory.seen = detail::last_end(asked, memory.seen);
}

// Returns the mean skip of the requests that the last plan routes, for the
// switch.
double mean_skip(const plan& previous, const argus_memory& memory,
                 const std::vector<double>& classes) {
  double sum = 0;
  for (size_t c = 0; c < std::min(classes.size(), previous.share.size()); ++c)
    for (uint32_t v = 0; v < memory.levels; ++v) {
      const size_t at = memory.first_route + v;
      if (at < previous.share[c].size() && !previous.routes[at].legs.empty())
        sum += classes[c] * previous.share[c][at]
             * previous.routes[at].legs.front().skip;
    }
  return sum;
}

// Keeps the workers on the levels of the previous plan while that is
// worthwhile.
core::result<argus::allocation> settled(
  const argus::ladder& levels, double rate, double least, const plan& previous,
  argus_memory& memory, const argus::allocation& found, core::time_point now) {
  std::vector<uint32_t> before(levels.size(), 0);
  for (const assignment& a : previous.workers)
    for (size_t v = 0; v < levels.size() && !a.hosting.empty(); ++v)
      if (a.hosting.front() == levels[v].variant) {
        ++before[v];
        break;
      }
  return argus::allocate_settled(levels, rate, least, found, before,
                                 memory.settled, now,
                                 memory.steady.deviation());
}

bool is_usable(const ladder_profile* x) {
  return x != nullptr && !x->levels.empty();
}

// Changes the phase by the retrievals since the last plan, and by what has been
// loaded. Without one of the ladders, the other is in use.
void change_phase(argus_memory& memory, const ladder_profile* latents,
                  const ladder_profile& models, const demand& asked,
                  const profile& known, const cluster_view& there,
                  const plan& previous) {
  if (!is_usable(latents)) {
    memory.change.phase = switch_phase::models;
    return;
  }
  if (!is_usable(&models)) {
    memory.change.phase = switch_phase::latents;
    return;
  }
  // Both ladders start with the full model.
  const core::variant_id full = latents->levels.front().variant;
  const size_t at = detail::ladder_index(known, ladder_kind::cached_latents);
  const auto& v = known.variants[full.value];
  memory.scale.full_seconds = argus::request_seconds(v, {});
  memory.scale.steps = v.steps;
  memory.scale.mean_skip =
    mean_skip(previous, memory, detail::class_histogram(asked, at, *latents));
  take_in(memory, asked, there);
  const auto* last = previous.memory.as<argus_memory>();
  const bool left = memory.change.phase == switch_phase::leaving
                 && last != nullptr
                 && last->change.phase == switch_phase::leaving
                 && detail::all_as_planned(there, previous);
  const bool returned = memory.change.phase == switch_phase::returning
                     && detail::all_host(there, full);
  if (left || returned)
    argus::all_loaded(memory.change, asked.now);
}

} // namespace

// What a plan of the levels in use is made from.
struct argus_policy::level_case {
  const demand& asked;
  const profile& known;
  const cluster_view& there;
  switch_phase phase = switch_phase::latents;
  core::variant_id full = {};
  ladder_profile ladder = {};
  // The ladder's index in the profile.
  size_t ladder_at = 0;
  detail::kept_ladder kept = {};
  argus::load_to_place load = {};
  // Requests per second, without headroom.
  double rate = 0;
  double fresh = 0;
  bool settles = false;
  // Both ladders can be used.
  bool changes = false;

  // Any worker runs any level.
  bool pools() const {
    return phase == switch_phase::latents;
  }

  const argus::ladder& levels() const {
    return kept.levels;
  }

  // The requests per second of all workers on the fastest level.
  double most() const {
    return levels().back().rate() * load.workers;
  }
};

core::result<argus::allocation> argus_policy::allocate(
  const argus::ladder& levels, const argus::load_to_place& asked,
  bool pools) const {
  return pools && rules_.allocate == argus_rules::allocation_rule::pooled
         ? argus::allocate_pooled(levels, asked)
         : argus::allocate_counts(levels, asked);
}

argus::shift_map argus_policy::shifted(std::span<const double> classes,
                                       std::span<const double> share,
                                       const table& degradation) const {
  return rules_.shift == argus_rules::shift_rule::exact
         ? argus::align_exactly(classes, share, degradation)
         : argus::align(classes, share);
}

// Returns a case without levels if no ladder has any.
argus_policy::level_case argus_policy::case_of(const demand& asked,
                                               const profile& known,
                                               const cluster_view& there,
                                               const plan& previous,
                                               argus_memory& memory) const {
  level_case x{asked, known, there};
  const auto* latents = detail::ladder_of(known, ladder_kind::cached_latents);
  const auto models = detail::models_of(known);
  if (!is_usable(latents) && !is_usable(&models))
    return x;
  x.changes = is_usable(latents) && is_usable(&models);
  x.full = (is_usable(latents) ? *latents : models).levels.front().variant;
  change_phase(memory, latents, models, asked, known, there, previous);
  x.phase = memory.change.phase;
  x.ladder = x.pools() ? *latents : models;
  x.ladder_at =
    detail::ladder_index(known, x.pools() ? ladder_kind::cached_latents
                                          : ladder_kind::smaller_models);
  x.kept = detail::kept_of(known, x.ladder);
  x.load.workers = static_cast<uint32_t>(there.workers.size());
  x.settles = rules_.settles && x.phase == switch_phase::models;
  memory.steady = with(memory.steady, asked.windows,
                       x.settles ? settled_seconds : steady_seconds);
  x.rate = rules_.backlog ? detail::rate_with_queue(
             memory.steady, asked, x.load.workers, drain_seconds)
         : x.settles ? memory.steady.value()
                     : detail::rate_of(asked, newest_weight, 0);
  x.load.rate =
    x.rate * std::max(rules_.head_room, x.settles ? settled_head_room : 1);
  if (x.pools())
    x.fresh = detail::fresh_share(x.levels(), x.load, rules_.fresh);
  else
    x.load.hosting = detail::hosting_levels(there, x.levels());
  return x;
}

core::result<argus::allocation> argus_policy::allocate_for(
  const level_case& x, const plan& previous, argus_memory& memory) const {
  auto planned =
    allocate(detail::with_fresh(x.levels(), x.fresh), x.load, x.pools());
  if (planned && x.settles)
    return settled(x.levels(), x.load.rate, settled_serves * x.rate, previous,
                   memory, *planned, x.asked.now);
  return planned;
}

// Sets what the workers host. Returns the share of the load that each level
// serves now.
std::vector<double> argus_policy::host_levels(
  plan& next, const level_case& x, const argus::allocation& planned) const {
  const auto& levels = x.levels();
  if (x.pools()) {
    const hosting_target all{{x.full}, x.load.workers, {}};
    detail::host(next, x.there, {&all, 1}, x.known);
    if (rules_.worker_queues && !planned.workers.empty())
      detail::set_levels(next, x.there, levels, planned.workers);
    return planned.share;
  }
  if (x.phase == switch_phase::models)
    detail::host(next, x.there, detail::targets_of(levels, planned.workers, {}),
                 x.known);
  else if (x.phase == switch_phase::leaving)
    detail::host(next, x.there,
                 detail::targets_of(levels, planned.workers, x.full), x.known);
  else
    for (size_t i = 0; i < x.there.workers.size(); ++i)
      if (!hosts(x.there.workers[i], x.full))
        next.workers[i].hosting.push_back(x.full);
  if (x.phase == switch_phase::models
      && detail::somebody_has(x.there, levels, planned.share))
    return planned.share;
  // While a variant is loading, the load is served by the hosted ones.
  const auto limited =
    argus::allocate_limited(levels, x.rate, detail::groups_of(x.there, levels));
  if (limited)
    return limited->share;
  std::vector<double> first(levels.size(), 0.0);
  first[0] = 1;
  return first;
}

// Adds a route for each level.
void argus_policy::add_levels(plan& next, const level_case& x,
                              argus_memory& memory) const {
  const auto& levels = x.levels();
  memory.levels = static_cast<uint32_t>(levels.size());
  memory.first_route = static_cast<uint32_t>(next.routes.size());
  for (const level& v : levels) {
    route r;
    r.name = v.name;
    leg s = detail::leg_on(v.variant);
    s.skip = v.skip;
    s.level_of_worker = x.pools() && rules_.worker_queues;
    if (v.skip > 0)
      s.from = origin::latent;
    if (x.pools()) {
      // A run stores the states that it passes.
      for (const level& other : levels)
        if (other.skip > v.skip)
          s.capture.push_back(other.skip);
      r.store.latents = !s.capture.empty();
    }
    r.legs.push_back(std::move(s));
    add_route(next, std::move(r));
  }
}

// Sets the share of each level's route in the requests of each class.
void argus_policy::share_levels(plan& next, const level_case& x,
                                std::span<const double> share,
                                const argus_memory& memory) const {
  const size_t levels = x.levels().size();
  const auto seen = detail::class_histogram(x.asked, x.ladder_at, x.ladder);
  std::vector<double> by_kept(levels, 0.0);
  for (uint32_t c = 0; c < seen.size(); ++c)
    by_kept[detail::kept_class(x.kept, c)] += seen[c];
  const auto map =
    shifted(by_kept, share, detail::degradation_of_ladder(x.ladder, x.kept));
  next.share.assign(x.ladder.levels.size(),
                    std::vector<double>(next.routes.size(), 0.0));
  for (uint32_t c = 0; c < next.share.size(); ++c)
    for (size_t v = 0; v < levels; ++v)
      next.share[c][memory.first_route + v] =
        map.at(detail::kept_class(x.kept, c), v) * (1 - x.fresh)
        + (v == 0 ? x.fresh : 0);
}

plan argus_policy::replan(const demand& asked, const profile& by_kind,
                          const cluster_view& there,
                          const plan& previous) const {
  // The paper's workers are all alike.
  const profile known = mean_over(by_kind, groups_in(there));
  plan next = vanilla::replan(asked, known, there, previous);
  argus_memory memory;
  if (const auto* before = previous.memory.as<argus_memory>())
    memory = *before;
  if (there.workers.empty())
    return next;
  const auto x = case_of(asked, known, there, previous, memory);
  if (x.levels().empty())
    return next;
  const auto planned = allocate_for(x, previous, memory);
  if (!planned)
    return next;
  memory.saturated = with(memory.saturated, x.rate > x.most(), 2);
  next.feasible = x.rate > x.most() ? feasibility::no : feasibility::yes;
  if (x.rate > x.most())
    next.reason = fmt::format(
      "demand: of {:.6g} requests a second, the queue included, {} workers "
      "serve {:.6g} on '{}', the fastest level",
      x.rate, x.load.workers, x.most(), x.levels().back().name);
  const auto share = host_levels(next, x, *planned);
  // Source: Argus, Table 1: never more than one image at a time.
  for (assignment& a : next.workers) {
    a.batch = 1;
    a.join = joining::single;
  }
  add_levels(next, x, memory);
  share_levels(next, x, share, memory);
  next.saturated = memory.saturated.on;
  if (next.saturated)
    next.retry_after = core::from_seconds(
      std::max(1.0, static_cast<double>(asked.backlog) / x.most()));
  memory.scale.mean_skip = mean_skip(
    next, memory, detail::class_histogram(asked, x.ladder_at, x.ladder));
  if (x.changes)
    next.probe_every = argus::probe_every(memory.change, memory.scale);
  next.memory = memory;
  return next;
}

bool argus_policy::plan_due(const plan& in_force,
                            std::span<const retrieval_sample> last) const {
  const auto* memory = in_force.memory.as<argus_memory>();
  if (memory == nullptr)
    return false;
  auto then = *memory;
  hear(then, last, {});
  return then.change.phase != memory->change.phase;
}

} // namespace atelier::planning
