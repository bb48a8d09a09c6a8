// SPDX-License-Identifier: Apache-2.0

// Chooses the route of a request, and asks for facts before that.

#include <atelier/actors/hub.hpp>
#include <atelier/core/log.hpp>
#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/question_budget.hpp>
#include <atelier/planning/reuse/scaled_table.hpp>
#include <atelier/planning/runnable_route.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

/// Image slots that stay free when a found image takes one: encoding it takes
/// another.
constexpr slot_counts reserve_found{0, 1, 0};

/// Fills in facts that no stage could find: nothing is tolerated and nothing is
/// near. But a search is likely to hit: a predictor may save a search, but
/// never prevent a hit.
void fill_unknown(planning::facts& known, const planning::need& asked) {
  if (asked.tolerated && !known.tolerated)
    known.tolerated.emplace();
  if (asked.hit_likely && !known.hit_likely)
    known.hit_likely = true;
  if (asked.near && !known.near)
    known.near.emplace();
  if (asked.mask && !known.mask)
    known.mask.emplace();
}

} // namespace

void hub::choose_route(core::request_id id, row& r, core::time_point now) {
  for (;;) {
    core::philox random{config_.seed, core::purpose::routing, id};
    auto choice = planning::choose_runnable(
      *config_.policy,
      {*r.request, r.known, *forecast_.profile(), *plan_, cluster(), random});
    if (const auto* wants = std::get_if<planning::need>(&choice)) {
      if (!questions_.may_ask(id))
        return turn_away(id, r,
                         core::fail(core::ec::internal,
                                    "policy {} never stops asking for facts",
                                    config_.policy->name()),
                         {}, now);
      if (wants->near)
        records_.searched();
      if (ask(id, r, *wants, now))
        return;
      fill_unknown(r.known, *wants);
      continue;
    }
    if (auto* no = std::get_if<planning::refuse>(&choice))
      return turn_away(id, r, std::move(no->why), no->retry_after, now);
    const auto& go = std::get<planning::go>(choice);
    const auto* along = go.route.value < plan_->routes.size()
                        ? &plan_->routes[go.route.value]
                        : nullptr;
    const bool found = along != nullptr && along->legs.empty()
                    && along->from == planning::origin::image && r.known.near
                    && go.match && *go.match < r.known.near->size()
                    && config_.profile->reuse;
    const bool begins =
      along != nullptr && !along->legs.empty()
      && along->legs.front().from != planning::origin::stage_image;
    if (!begins && !found)
      return turn_away(id, r,
                       core::fail(core::ec::internal,
                                  "policy {} chose no route that can be run",
                                  config_.policy->name()),
                       {}, now);
    if (r.plan != plan_) {
      r.plan = plan_;
      r.slots = route_slots_;
    }
    r.route = go.route;
    r.match = go.match;
    if (found && !ports_.found) {
      if (auto why = slots_.too_few_for(
            along->name, r.slots->least(r.route, r.request->source != nullptr)))
        return turn_away(id, r, std::move(*why), {}, now);
      r.recipe = planning::recipe_of(
        *r.request, {}, config_.profile->reuse->full, *config_.profile);
      r.leg = 0;
      return next_stage(id, r, path_.first(planning::hook::each_leg), now);
    }
    if (found) {
      if (answer_with_match(id, r, *go.match, now))
        return;
      // The policy chooses again as if that image had not been found.
      r.known.near->erase(r.known.near->begin() + *go.match);
      r.match.reset();
      continue;
    }
    if (r.known.mask && r.request->source) {
      r.masked = r.known.mask->ratio;
      if (!std::exchange(tells_rows_, true))
        workers_.members_changed();
    }
    if (auto why = slots_.too_few_for(
          along->name, r.slots->least(r.route, r.request->source != nullptr)))
      return turn_away(id, r, std::move(*why), {}, now);
    core::timespan later{0};
    const auto first = along->legs.front().any_of.front();
    if (auto why = unloadable(*along))
      return turn_away(id, r, std::move(*why),
                       failed_loads_.paused_anywhere(first)->due - now, now);
    if (auto why = no_room_for(r, first, later))
      return turn_away(id, r, std::move(*why), later, now);
    if (auto why = not_admitted(r, later, now))
      return turn_away(id, r, std::move(*why), later, now);
    count_choice(r);
    return begin_leg(id, r, 0, now);
  }
}

bool hub::ask(core::request_id id, row& r, const planning::need& wants,
              core::time_point now) {
  using planning::hook;
  questions_.begin(id, wants, now);
  // While a row asks, its view shows no route.
  requests_.ask(r);
  for (size_t i = 0; path_.is(i, hook::before_route); ++i) {
    const auto& row = path_.at(i).row();
    auto order = path_.at(i).begin(view_of(r, wants));
    if (order && !*order)
      continue;
    const auto left = planning::question_budget(row.budget, row.budget_share,
                                                now, r.request->deadline);
    const bool asked =
      order && order_aside(id, r, i, std::move(**order), left, now);
    if (asked) {
      questions_.looks(id, i, core::after(now, left));
      continue;
    }
    records_.stage_left_out(i);
    if (row.otherwise == planning::if_failed::fail) {
      turn_away(id, r,
                order ? core::fail(core::ec::unavailable,
                                   "no worker is free for stage '{}'", row.name)
                      : order.why(),
                {}, now);
      return true;
    }
  }
  if (questions_.is_open(id))
    return true;
  requests_.stop_asking(r);
  return false;
}

void hub::question_over(core::request_id id, row& r, size_t stage,
                        const stage_done& x, core::error why,
                        core::time_point now) {
  if (why.code == core::ec::none) {
    planning::facts found;
    if (auto ended = path_.at(stage).end(x.outcome, found); !ended)
      why = ended.why();
    else {
      r.account.note(x.notes);
      if (found.near)
        questions_.found_near(id, x.took);
      if (found.prediction)
        records_.checked(*found.prediction);
      r.known.learn(std::move(found));
    }
  }
  if (why.code != core::ec::none) {
    const auto& row = path_.at(stage).row();
    records_.stage_left_out(stage);
    if (row.otherwise == planning::if_failed::fail)
      return turn_away(id, r, std::move(why), {}, now);
    core::log_warn("stage '{}' of request {}: {}", row.name, id.value,
                   core::to_string(why));
  }
  if (!questions_.is_open(id))
    questions_over(id, r, now);
}

void hub::questions_over(core::request_id id, row& r, core::time_point now) {
  const auto x = questions_.end(id, now);
  const bool late = !x.late.empty();
  for (const auto stage : x.late)
    records_.stage_left_out(stage);
  for (const auto stage : x.late)
    if (const auto& row = path_.at(stage).row();
        row.otherwise == planning::if_failed::fail)
      return turn_away(id, r,
                       core::fail(core::ec::unavailable,
                                  "stage '{}' did not answer in time",
                                  row.name),
                       {}, now);
  requests_.stop_asking(r);
  if (late)
    records_.facts_late();
  r.account.asked(x.wanted, x.took);
  if (x.wanted.near) {
    const bool found = !late && x.search;
    // Other questions, and other orders of the worker, say nothing of how long
    // retrieval takes.
    note_retrieval(
      {core::to_seconds(found ? *x.search : x.took), !found, now});
    records_.allowed(found ? planning::unified::allowed_by(*config_.profile,
                                                           *r.known.near)
                           : 0);
  }
  if (!late && x.wanted.tolerated && r.known.tolerated)
    records_.predicted(*r.known.tolerated);
  fill_unknown(r.known, x.wanted);
  choose_route(id, r, now);
}

void hub::note_retrieval(planning::retrieval_sample x) {
  records_.retrieved(x);
  const auto& kept = records_.counts().retrievals;
  // Once per plan: the plan requested here takes all retrievals into account.
  if (called_for_ == plan_->version || !config_.policy->plan_due(*plan_, kept))
    return;
  called_for_ = plan_->version;
  auto there = cluster();
  there.retrievals = kept;
  ports_.watch->cluster_changed(std::move(there));
}

namespace {

// Returns whether the image of a row that starts from earlier work is the one
// that the entry's seed makes from noise: the rest of the very run that left
// the entry, or the image of that run.
bool is_made_by_its_seed(const row& r, const planning::match& from,
                         const planning::profile& known) {
  const auto& along = r.plan->routes[r.route.value];
  if (!from.seeded || from.depth != 0 || along.legs.size() > 1 || !known.reuse
      || r.recipe.variant != known.reuse->full)
    return false;
  return along.legs.empty()
      || along.legs.front().from != planning::origin::image;
}

} // namespace

void hub::note_reuse(row& r) {
  using planning::origin;
  r.account.reused({});
  const auto* from = match_of(r);
  if (from == nullptr)
    return;
  const auto& along = r.plan->routes[r.route.value];
  reused_work x;
  if (along.legs.empty()) {
    x.from = origin::image;
    x.steps = r.recipe.steps;
  } else if (along.legs.front().from == origin::image) {
    if (!r.held[planning::held::source] || !starts_from_found(r))
      return;
    x.from = origin::image;
    x.steps = r.recipe.steps - core::steps_to_run(r.recipe);
  } else if (r.saved > 0) {
    x.steps = r.saved;
  } else {
    return;
  }
  x.entry = from->entry;
  x.similarity = from->similarity;
  r.account.reused(x);
  const bool makes_it = is_made_by_its_seed(r, *from, *config_.profile);
  if (makes_it)
    r.recipe.seed = from->seed;
  const core::note told[] = {
    {core::note_code::from_cache,
     fmt::format("The image started from {} of an earlier image and left "
                 "out {} of {} steps (route '{}', entry {}, similarity "
                 "{:.3f}). Its seed {}.",
                 x.from == origin::image ? "the pixels" : "the state", x.steps,
                 r.recipe.steps, along.name, x.entry, x.similarity,
                 makes_it ? "is that of the earlier image and makes it again"
                          : "alone does not make it")}};
  r.account.note(told);
}

void hub::turn_away(core::request_id id, row& r, core::error why,
                    core::timespan retry_after, core::time_point now) {
  close(r, row_state::failed);
  records_.turned_away(ending_of(id, r), why, now);
  auto what = r.request;
  requests_.forget(id);
  refuse(std::move(what), std::move(why), retry_after, now);
}

bool hub::answer_with_match(core::request_id id, row& r, uint32_t match,
                            core::time_point now) {
  // Kept work was drawn from scratch, by the variant that does that.
  r.recipe = planning::recipe_of(*r.request, {}, config_.profile->reuse->full,
                                 *config_.profile);
  if (!slots_.fill_image(
        r.held, {id, r.attempt}, reserve_found, [&](const auto& slot) {
          return ports_.found->give_image((*r.known.near)[match].entry,
                                          r.recipe.px, slot);
        }))
    return false;
  take_match_as_image(r);
  advance(id, r, now);
  return true;
}

void hub::take_match_as_image(row& r) {
  count_choice(r);
  note_reuse(r);
  planning::outcome o;
  o.variant = r.recipe.variant;
  r.known.best = 0;
  r.known.done.push_back(o);
  r.drawn = r.recipe;
}

namespace {

// Returns the most stored steps that do not exceed those to be left out.
uint32_t usable_steps(const planning::match& from, uint32_t skip) {
  uint32_t out = 0;
  for (const auto k : from.stored)
    if (k <= skip)
      out = std::max(out, k);
  return out;
}

} // namespace

void hub::count_choice(row& r) {
  const auto& along = r.plan->routes[r.route.value];
  const auto* first = along.legs.empty() ? nullptr : &along.legs.front();
  const auto from = first != nullptr ? first->from : along.from;
  const bool hit =
    from == planning::origin::latent || from == planning::origin::image;
  // What a level saves is known when its worker takes the row.
  const bool later = first != nullptr && first->level_of_worker;
  if (hit && !later && r.account.counts_hit()) {
    // An image that is the answer saves all steps.
    auto saved = first != nullptr ? first->skip : r.recipe.steps;
    if (const auto* match = match_of(r);
        match != nullptr && from == planning::origin::latent)
      saved = usable_steps(*match, saved);
    records_.hit(saved);
  }
  if (r.request->source)
    records_.edit(r.masked);
}

void hub::count_level(row& r) {
  const auto& first = r.plan->routes[r.route.value].legs.front();
  if (first.level_of_worker && r.saved > 0 && r.account.counts_hit())
    records_.hit(r.saved);
}

uint32_t hub::saved_by(const row& r, const planning::leg& next,
                       core::variant_id variant, uint32_t level) const {
  using planning::origin;
  const auto steps = config_.profile->variants[variant.value].steps;
  uint32_t skip = next.level_of_worker ? level : next.skip;
  if (skip == 0 || steps == 0)
    return 0;
  switch (next.from) {
    case origin::noise:
    case origin::template_image:
      if (!next.level_of_worker)
        return 0;
      [[fallthrough]];
    case origin::latent: {
      const auto* from = match_of(r);
      return from == nullptr ? 0
                             : std::min(usable_steps(*from, skip), steps - 1);
    }
    case origin::stage_image:
      // The image is in the row's source, and its run is shorter.
      return 0;
    case origin::image:
      if (r.held[planning::held::source])
        return 0;
      break;
  }
  return planning::scaled_skip(skip, next.skip_of > 0 ? next.skip_of : steps,
                               steps);
}

void hub::start_from_earlier(core::ticket who, row& r, uint32_t steps) {
  // The row keeps the steps that it already has, for example after a death.
  const auto has = r.held.steps();
  r.saved = has;
  const auto* from = match_of(r);
  if (steps == 0 || steps == has || !ports_.found || from == nullptr)
    return;
  if (slots_.fill_state(r.held, who, steps, [&](const auto& slot) {
        return ports_.found->give_state(from->entry, steps, slot);
      }))
    r.saved = steps;
}

} // namespace atelier::actors
