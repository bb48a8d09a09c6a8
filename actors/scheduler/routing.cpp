// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/routing.hpp>
#include <atelier/planning/runnable_route.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

/// Whether a route answers with an image that was found for the row.
bool is_found(const planning::route& along, const planning::go& choice,
              const planning::facts& known, const planning::profile& costs) {
  return along.legs.empty() && along.from == planning::origin::image
      && known.near && choice.match && *choice.match < known.near->size()
      && costs.reuse;
}

/// Whether a route can begin to draw.
bool is_drawn(const planning::route& along) {
  return !along.legs.empty()
      && along.legs.front().from != planning::origin::stage_image;
}

} // namespace

routing::routing(parts& of)
  : config_(of.config),
    slots_(of.slots),
    records_(of.records),
    rules_(of.rules),
    requests_(of.requests),
    workers_(of.workers),
    hosting_(of.hosting),
    forecast_(of.forecast),
    questions_(of.questions),
    views_(of.views),
    matching_(of.matching) {}

routing::choice routing::choose(core::request_id id, row& r,
                                core::time_point now) {
  auto random = rules_.random(id);
  auto next = planning::choose_runnable(
    rules_.policy(), {*r.request, r.course.known(), *forecast_.profile(),
                      *rules_.plan(), views_.cluster(), random});
  if (auto* wants = std::get_if<planning::need>(&next)) {
    if (!questions_.count_question(id))
      return refusal{core::fail(core::ec::internal,
                                "policy {} never stops asking for facts",
                                rules_.policy().name())};
    if (wants->near)
      records_.count(&counters::searched);
    return std::move(*wants);
  }
  if (auto* no = std::get_if<planning::refuse>(&next))
    return refusal{std::move(no->why), no->retry_after};
  const auto& go = std::get<planning::go>(next);
  const auto& plan = rules_.plan();
  const auto* along = go.route.value < plan->routes.size()
                      ? &plan->routes[go.route.value]
                      : nullptr;
  const bool found = along != nullptr
                  && is_found(*along, go, r.course.known(), *config_.profile);
  if (along == nullptr || (!found && !is_drawn(*along)))
    return refusal{core::fail(core::ec::internal,
                              "policy {} chose no route that can be run",
                              rules_.policy().name())};
  r.course.choose(go.route, go.match, plan, rules_.route_slots());
  if (!found && r.course.take_mask() && views_.list_rows())
    workers_.members_changed();
  if (auto why = slots_.too_few_for(along->name, r.course.least_slots()))
    return refusal{std::move(*why)};
  if (found)
    return chosen{true};
  if (auto no = admit(r, *along, now))
    return std::move(*no);
  return chosen{};
}

std::optional<routing::refusal> routing::admit(const row& r,
                                               const planning::route& along,
                                               core::time_point now) {
  const auto variant = along.legs.front().any_of.front();
  if (auto why = matching_.unloadable(along))
    return refusal{std::move(*why), *hosting_.retried_at(variant) - now};
  const auto& plan = *rules_.plan();
  const auto& there = views_.cluster();
  // No request is refused on a guess.
  if (const auto wait =
        forecast_.wait_beyond(variant, config_.limits.queue, r.request->tenant))
    return refusal{
      core::fail(core::ec::overloaded,
                 "accepted requests are predicted to take {:.1f} s more, "
                 "the limit (limits.queue_s) is {:.1f}",
                 core::to_seconds(*wait),
                 core::to_seconds(config_.limits.queue)),
      std::max(plan.retry_after,
               planning::come_back_after(*wait - config_.limits.queue, 1))};
  // Rates that were planned with a guess are a guess.
  if (forecast_.guesses(plan, there))
    return std::nullopt;
  const auto wait =
    rules_.admit(*r.request, r.course.known(), *config_.profile,
                 requests_.is_below_mean(r.request->tenant), now);
  if (wait == core::timespan{0})
    return std::nullopt;
  return refusal{
    core::fail(core::ec::overloaded,
               "more requests arrive than the plan admits, of priority {} "
               "the next one in {:.1f} s",
               core::to_string(r.request->prio), core::to_seconds(wait)),
    std::max(plan.retry_after, wait)};
}

core::timespan routing::retry_after() const {
  views_.cluster();
  return forecast_.come_back(config_.limits.requests,
                             rules_.plan()->retry_after);
}

void routing::count_choice(row& r) {
  if (const auto skips = r.course.skips(); skips && r.account.note_hit())
    records_.hit(*skips);
  if (r.request->source)
    records_.edit(r.course.masked());
}

void routing::note_reuse(row& r) {
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

} // namespace atelier::actors
