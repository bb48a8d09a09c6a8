// SPDX-License-Identifier: Apache-2.0
// needs:  tolerated levels; the matches, if the level skips steps
// routes: vanilla's, then one for each level of the ladder in use
// queues: one for each variant; in the paper's variant one for each worker
// take:   as vanilla
// memory: phase of the change between both ladders, saturation
// Long, because plans and choices depend on the same phase and its routes.
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/argus.hpp>
#include <atelier/planning/policies/argus/argus_memory.hpp>
#include <atelier/planning/policies/argus/argus_parts.hpp>
#include <atelier/planning/policies/argus/settled.hpp>
#include <atelier/planning/policies/argus/shift.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/reuse/scaled_table.hpp>

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

constexpr double above_every_similarity = 2;

// Returns the similarities from which on steps may be skipped; none: the
// profile says nothing of them, and any state will do.
std::optional<skip_table> thresholds_in(const profile& known) {
  const auto& reuse = known.reuse;
  // A measurement may have found that no skip keeps the quality.
  if (!reuse || (reuse->latents.empty() && !reuse->measured))
    return std::nullopt;
  return scaled_to(reuse->latents, reuse->steps,
                   known.variants[reuse->full.value].steps);
}

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

} // namespace

plan argus_policy::replan(const demand& asked, const profile& by_kind,
                          const cluster_view& there,
                          const plan& previous) const {
  // The paper's workers are all alike.
  const profile known = mean_over(by_kind, groups_in(there));
  plan next = vanilla::replan(asked, known, there, previous);
  const auto* latents = rules_.latents
                        ? detail::ladder_of(known, ladder_kind::cached_latents)
                        : nullptr;
  const auto usable = [](const ladder_profile* l) {
    return l != nullptr && !l->levels.empty();
  };
  const auto of_models = detail::models_of(known);
  const auto* models =
    rules_.changes || !usable(latents) ? &of_models : nullptr;
  if ((!usable(latents) && !usable(models)) || there.workers.empty())
    return next;
  argus_memory memory;
  if (const auto* before = previous.memory.as<argus_memory>())
    memory = *before;

  // Both ladders start with the full model.
  const core::variant_id full =
    (usable(latents) ? latents : models)->levels.front().variant;
  if (!usable(latents)) {
    memory.change.phase = switch_phase::models;
  } else if (!usable(models)) {
    memory.change.phase = switch_phase::latents;
  } else {
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

  const switch_phase phase = memory.change.phase;
  const bool pools = phase == switch_phase::latents;
  const ladder_profile& ladder = pools ? *latents : *models;
  const size_t ladder_at = detail::ladder_index(
    known, pools ? ladder_kind::cached_latents : ladder_kind::smaller_models);
  const detail::kept_ladder kept = detail::kept_of(known, ladder);
  const argus::ladder& levels = kept.levels;

  argus::load_to_place load;
  load.workers = static_cast<uint32_t>(there.workers.size());
  const bool settles = rules_.settles && phase == switch_phase::models;
  memory.steady = with(memory.steady, asked.windows,
                       settles ? settled_seconds : steady_seconds);
  const double rate = rules_.backlog ? detail::rate_with_queue(
                        memory.steady, asked, load.workers, drain_seconds)
                    : settles ? memory.steady.value()
                              : detail::rate_of(asked, newest_weight, 0);
  load.rate =
    rate * std::max(rules_.head_room, settles ? settled_head_room : 1);
  if (!pools)
    load.hosting = detail::hosting_levels(there, levels);
  const double fresh =
    pools ? detail::fresh_share(levels, load, rules_.fresh) : 0;
  auto planned = detail::allocated(
    rules_.allocate, detail::with_fresh(levels, fresh), load, pools);
  if (!planned)
    return next;
  if (settles)
    planned = settled(levels, load.rate, settled_serves * rate, previous,
                      memory, *planned, asked.now);
  if (!planned)
    return next;
  const double most = levels.back().rate() * load.workers;
  memory.saturated = with(memory.saturated, rate > most, 2);
  next.feasible = rate > most ? feasibility::no : feasibility::yes;
  if (rate > most)
    next.reason = fmt::format(
      "demand: of {:.6g} requests a second, the queue included, {} workers "
      "serve {:.6g} on '{}', the fastest level",
      rate, load.workers, most, levels.back().name);

  std::vector<double> share = planned->share;
  if (pools) {
    const hosting_target all{{full}, load.workers, {}};
    detail::host(next, there, {&all, 1}, known);
    if (rules_.worker_lanes && !planned->workers.empty())
      detail::set_levels(next, there, levels, planned->workers);
  } else {
    if (phase == switch_phase::models)
      detail::host(next, there,
                   detail::targets_of(levels, planned->workers, {}), known);
    else if (phase == switch_phase::leaving)
      detail::host(next, there,
                   detail::targets_of(levels, planned->workers, full), known);
    else
      for (size_t i = 0; i < there.workers.size(); ++i)
        if (!hosts(there.workers[i], full))
          next.workers[i].hosting.push_back(full);
    // While a variant is loading, the load is served by the hosted ones.
    if (phase != switch_phase::models
        || !detail::somebody_has(there, levels, planned->share)) {
      const auto limited =
        argus::allocate_limited(levels, rate, detail::groups_of(there, levels));
      share.assign(levels.size(), 0.0);
      share[0] = 1;
      if (limited)
        share = limited->share;
    }
  }

  // Source: Argus, Table 1: never more than one image at a time.
  for (assignment& a : next.workers) {
    a.batch = 1;
    a.join = joining::single;
  }

  memory.levels = static_cast<uint32_t>(levels.size());
  memory.first_route = static_cast<uint32_t>(next.routes.size());
  for (const level& v : levels) {
    route r;
    r.name = v.name;
    leg s = detail::leg_on(v.variant);
    s.skip = v.skip;
    s.level_of_worker = pools && rules_.worker_lanes;
    if (v.skip > 0)
      s.from = origin::latent;
    if (pools) {
      // A run stores the states that it passes.
      for (const level& other : levels)
        if (other.skip > v.skip)
          s.capture.push_back(other.skip);
      r.store.latents = !s.capture.empty();
    }
    r.legs.push_back(std::move(s));
    add_route(next, std::move(r));
  }

  const auto seen = detail::class_histogram(asked, ladder_at, ladder);
  std::vector<double> by_kept(levels.size(), 0.0);
  for (uint32_t c = 0; c < seen.size(); ++c)
    by_kept[detail::kept_class(kept, c)] += seen[c];
  argus::shift_map map{levels.size(), levels.size()};
  switch (rules_.shift) {
    case argus_rules::shift_rule::exact:
      map = argus::align_exactly(by_kept, share,
                                 detail::degradation_of_ladder(ladder, kept));
      break;
    case argus_rules::shift_rule::published:
      map = argus::align(by_kept, share);
      break;
    case argus_rules::shift_rule::none:
      for (size_t c = 0; c < levels.size(); ++c)
        map.at(c, c) = 1;
      break;
    case argus_rules::shift_rule::by_load:
      for (size_t c = 0; c < levels.size(); ++c)
        for (size_t v = 0; v < levels.size(); ++v)
          map.at(c, v) = share[v];
  }
  next.share.assign(ladder.levels.size(),
                    std::vector<double>(next.routes.size(), 0.0));
  for (uint32_t c = 0; c < next.share.size(); ++c)
    for (size_t v = 0; v < levels.size(); ++v)
      next.share[c][memory.first_route + v] =
        map.at(detail::kept_class(kept, c), v) * (1 - fresh)
        + (v == 0 ? fresh : 0);

  next.saturated = memory.saturated.on;
  if (next.saturated)
    next.retry_after = core::from_seconds(
      std::max(1.0, static_cast<double>(asked.backlog)
                      / (levels.back().rate() * load.workers)));
  memory.scale.mean_skip = mean_skip(next, memory, seen);
  if (rules_.changes && usable(latents) && usable(models))
    next.probe_every = argus::probe_every(memory.change, memory.scale);
  next.memory = memory;
  return next;
}

bool argus_policy::plan_due(const plan& in_force,
                            std::span<const retrieval_sample> last) const {
  const auto* memory = in_force.memory.as<argus_memory>();
  if (memory == nullptr || !rules_.changes || !rules_.latents)
    return false;
  auto then = *memory;
  hear(then, last, {});
  return then.change.phase != memory->change.phase;
}

choice argus_policy::choose(const decision_context& by) const {
  const auto* memory = by.in_force.memory.as<argus_memory>();
  if (memory == nullptr || memory->levels == 0 || by.in_force.share.empty()
      || !detail::leaves_choice(by.wanted))
    return vanilla::choose(by);
  const bool latents = argus::may_use_cache(memory->change.phase);
  size_t c = 0;
  if (rules_.shift != argus_rules::shift_rule::by_load) {
    if (!by.known.tolerated) {
      need n;
      n.tolerated = true;
      return n;
    }
    const size_t ladder =
      detail::ladder_index(by.costs, latents ? ladder_kind::cached_latents
                                             : ladder_kind::smaller_models);
    // Without a prediction, nothing is approximated.
    if (ladder < by.known.tolerated->size())
      c = std::min<size_t>((*by.known.tolerated)[ladder],
                           by.in_force.share.size() - 1);
  }
  // The draw is the same however often the policy is asked.
  by.random.seek(0);
  const uint32_t at = argus::draw_level(by.in_force.share[c], by.random);
  if (at >= by.in_force.routes.size() || by.in_force.routes[at].legs.empty())
    return vanilla::choose(by);
  const leg& first = by.in_force.routes[at].legs.front();
  if (first.from != origin::latent)
    return go{core::route_id{at}, {}};
  if (!detail::may_reuse(by.wanted))
    return go{core::route_id{memory->first_route}, {}};
  const auto thresholds = thresholds_in(by.costs);
  if (!by.known.near) {
    need n;
    n.near = true;
    n.holds.holds = needed_work::part::state;
    if (!thresholds)
      n.hit_from = 0;
    else if (!thresholds->empty())
      n.hit_from = thresholds->front().similarity;
    else
      n.hit_from = above_every_similarity;
    return n;
  }
  for (uint32_t i = 0; i < by.known.near->size(); ++i) {
    const match& found = (*by.known.near)[i];
    const uint32_t allowed =
      thresholds
        ? allowed_skip(*thresholds, found.similarity, threshold_rule::above)
        : first.skip;
    // The level, or else the nearest one that skips no more than allowed.
    std::optional<uint32_t> best;
    uint32_t most = 0;
    const auto end = std::min<size_t>(
      size_t{memory->first_route} + memory->levels, by.in_force.routes.size());
    for (uint32_t route = memory->first_route; route < end; ++route) {
      if (by.in_force.routes[route].legs.empty())
        continue;
      const leg& level = by.in_force.routes[route].legs.front();
      if (level.from == origin::latent && level.skip > most
          && level.skip <= std::min(first.skip, allowed)) {
        most = level.skip;
        best = route;
      }
    }
    for (const uint32_t k : found.stored)
      if (best && k > 0 && k <= most)
        return go{core::route_id{*best}, i};
  }
  return go{core::route_id{memory->first_route}, {}};
}

compared argus_policy::compares(const profile& known) const {
  const bool skips =
    rules_.latents && thresholds_in(known)
    && detail::ladder_of(known, ladder_kind::cached_latents) != nullptr;
  return skips ? compared::prompts : compared::nothing;
}

core::lane_id argus_policy::place(const leg& next,
                                  const decision_context& by) const {
  if (!rules_.worker_lanes)
    return vanilla::place(next, by);
  const core::variant_id variant = next.any_of.front();
  std::vector<argus::candidate> candidates;
  std::vector<core::worker_id> ids;
  for (const worker_view& w : by.there.workers) {
    if (!hosts(w, variant))
      continue;
    argus::candidate c;
    c.level = next.level_of_worker ? w.level : next.skip;
    c.requests = w.waiting + w.seats_taken;
    const auto v = on_kind(by.costs, variant, w.device_kind);
    c.seconds = argus::request_seconds(v, drawn_px(v, by.wanted), c.level);
    candidates.push_back(c);
    ids.push_back(w.worker);
  }
  if (candidates.empty())
    return lane_of(variant);
  if (rules_.any_worker) {
    // All workers of the level have the same probability; if it has none, all
    // workers do.
    std::vector<size_t> same;
    for (size_t i = 0; i < candidates.size(); ++i)
      if (candidates[i].level == next.skip)
        same.push_back(i);
    return lane_of(same.empty() ? ids[by.random.below(ids.size())]
                                : ids[same[by.random.below(same.size())]]);
  }
  return lane_of(
    ids[*argus::choose_worker(candidates, next.skip, rules_.wait)]);
}

} // namespace atelier::planning
