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

} // namespace

void hub::choose_route(core::request_id id, row& r, core::time_point now) {
  for (;;) {
    auto random = rules_.random(id);
    auto choice = planning::choose_runnable(
      rules_.policy(), {*r.request, r.course.known(), *forecast_.profile(),
                        *rules_.plan(), cluster(), random});
    if (const auto* wants = std::get_if<planning::need>(&choice)) {
      if (!questions_.may_ask(id))
        return turn_away(id, r,
                         core::fail(core::ec::internal,
                                    "policy {} never stops asking for facts",
                                    rules_.policy().name()),
                         {}, now);
      if (wants->near)
        records_.searched();
      if (ask(id, r, *wants, now))
        return;
      r.course.assume(*wants);
      continue;
    }
    if (auto* no = std::get_if<planning::refuse>(&choice))
      return turn_away(id, r, std::move(no->why), no->retry_after, now);
    const auto& go = std::get<planning::go>(choice);
    const auto* along = go.route.value < rules_.plan()->routes.size()
                        ? &rules_.plan()->routes[go.route.value]
                        : nullptr;
    const bool found = along != nullptr && along->legs.empty()
                    && along->from == planning::origin::image
                    && r.course.known().near && go.match
                    && *go.match < r.course.known().near->size()
                    && config_.profile->reuse;
    const bool begins =
      along != nullptr && !along->legs.empty()
      && along->legs.front().from != planning::origin::stage_image;
    if (!begins && !found)
      return turn_away(id, r,
                       core::fail(core::ec::internal,
                                  "policy {} chose no route that can be run",
                                  rules_.policy().name()),
                       {}, now);
    r.course.choose(go.route, go.match, rules_.plan(), rules_.slots());
    if (found) {
      if (!ports_.found) {
        if (auto why = slots_.too_few_for(along->name, r.course.least_slots()))
          return turn_away(id, r, std::move(*why), {}, now);
        r.course.take_found();
        return next_stage(id, r, path_.first(planning::hook::each_leg), now);
      }
      if (answer_with_match(id, r, *go.match, now))
        return;
      // The policy chooses again as if that image had not been found.
      r.course.lose_match();
      continue;
    }
    if (r.course.take_mask() && views_.list_rows())
      workers_.members_changed();
    if (auto why = slots_.too_few_for(along->name, r.course.least_slots()))
      return turn_away(id, r, std::move(*why), {}, now);
    const auto first = along->legs.front().any_of.front();
    if (auto why = matching_.unloadable(*along))
      return turn_away(id, r, std::move(*why),
                       *hosting_.retried_at(first) - now, now);
    if (auto no = refusal_of(r, first, now))
      return turn_away(id, r, std::move(no->why), no->retry_after, now);
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
    auto order = path_.at(i).begin(
      r.course.view_without_route(r.held, r.account.notes(), wants));
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
      r.course.learn(std::move(found));
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
    note_retrieval({core::to_seconds(found ? *x.search : x.took), !found, now});
    records_.allowed(found ? planning::unified::allowed_by(
                       *config_.profile, *r.course.known().near)
                           : 0);
  }
  if (!late && x.wanted.tolerated && r.course.known().tolerated)
    records_.predicted(*r.course.known().tolerated);
  r.course.assume(x.wanted);
  choose_route(id, r, now);
}

void hub::note_retrieval(planning::retrieval_sample x) {
  records_.retrieved(x);
  const auto& kept = records_.counts().retrievals;
  if (!rules_.calls_for_plan(kept))
    return;
  auto there = cluster();
  there.retrievals = kept;
  ports_.watch->cluster_changed(std::move(there));
}

void hub::note_reuse(row& r) {
  const bool source = static_cast<bool>(r.held[planning::held::source]);
  const auto x = r.course.reuse(source);
  r.account.reused(x);
  if (!x)
    return;
  const bool makes_it = r.course.is_made_by_its_seed();
  if (makes_it)
    r.course.take_seed_of_match();
  const core::note told[] = {
    {core::note_code::from_cache,
     fmt::format("The image started from {} of an earlier image and left "
                 "out {} of {} steps (route '{}', entry {}, similarity "
                 "{:.3f}). Its seed {}.",
                 x->from == planning::origin::image ? "the pixels"
                                                    : "the state",
                 x->steps, r.course.recipe().steps, r.course.route().name,
                 x->entry, x->similarity,
                 makes_it ? "is that of the earlier image and makes it again"
                          : "alone does not make it")}};
  r.account.note(told);
}

bool hub::answer_with_match(core::request_id id, row& r, uint32_t match,
                            core::time_point now) {
  r.course.take_found();
  if (!slots_.fill_image(
        r.held, {id, r.attempt()}, reserve_found, [&](const auto& slot) {
          return ports_.found->give_image((*r.course.known().near)[match].entry,
                                          r.course.recipe().px, slot);
        }))
    return false;
  take_match_as_image(r);
  advance(id, r, now);
  return true;
}

void hub::take_match_as_image(row& r) {
  count_choice(r);
  note_reuse(r);
  r.course.found_image();
}

void hub::count_choice(row& r) {
  if (const auto skips = r.course.skips(); skips && r.account.counts_hit())
    records_.hit(*skips);
  if (r.request->source)
    records_.edit(r.course.masked());
}

} // namespace atelier::actors
