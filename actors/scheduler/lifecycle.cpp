// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/lifecycle.hpp>
#include <atelier/core/log.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/planning/walk.hpp>

#include <utility>
#include <variant>

namespace atelier::actors {

using planning::held;
using planning::hook;
using planning::if_failed;

lifecycle::lifecycle(parts& of, queueing& waiting, routing& routes,
                     asides& beside, endings& ends)
  : config_(of.config),
    ports_(of.ports),
    path_(of.path),
    slots_(of.slots),
    records_(of.records),
    requests_(of.requests),
    forecast_(of.forecast),
    questions_(of.questions),
    suspicions_(of.suspicions),
    queueing_(waiting),
    routing_(routes),
    asides_(beside),
    ends_(ends) {}

// -- before the route ---------------------------------------------------------

void lifecycle::begin(core::request_id id, row& r, core::time_point now) {
  if (!path_.has_unasked_facts() || !ask(id, r, {}, now))
    choose_route(id, r, now);
}

bool lifecycle::ask(core::request_id id, row& r, const planning::need& wants,
                    core::time_point now) {
  auto asked = asides_.ask(id, r, wants, now);
  if (asked)
    return *asked;
  ends_.turn_away(id, r, std::move(asked).why(), {}, now);
  return true;
}

void lifecycle::aside_over(const stage_done& x, const dispatched& was,
                           core::error why, core::time_point now) {
  auto of = asides_.over(x, was, std::move(why), now);
  if (!of)
    return;
  auto& r = requests_.at(of->id);
  if (!of->goes_on)
    return ends_.turn_away(of->id, r, std::move(of->goes_on).why(), {}, now);
  if (!questions_.is_open(of->id))
    questions_over(of->id, r, now);
}

void lifecycle::questions_over(core::request_id id, row& r,
                               core::time_point now) {
  if (auto ended = asides_.end(id, r, now); !ended)
    return ends_.turn_away(id, r, std::move(ended).why(), {}, now);
  choose_route(id, r, now);
}

void lifecycle::choose_route(core::request_id id, row& r,
                             core::time_point now) {
  for (;;) {
    auto next = routing_.choose(id, r, now);
    if (auto* no = std::get_if<routing::refusal>(&next))
      return ends_.turn_away(id, r, std::move(no->why), no->retry_after, now);
    if (const auto* wants = std::get_if<planning::need>(&next)) {
      if (ask(id, r, *wants, now))
        return;
      r.course.assume(*wants);
      continue;
    }
    if (std::get<routing::chosen>(next).found) {
      r.course.take_found();
      return next_stage(id, r, path_.first(hook::each_leg), now);
    }
    routing_.count_choice(r);
    return begin_leg(id, r, 0, now);
  }
}

void lifecycle::choose_again(core::request_id id, row& r,
                             core::time_point now) {
  forecast_.uncount(id);
  r.course.leave_route();
  slots_.drop_start(r.held);
  requests_.stop_asking(r);
  choose_route(id, r, now);
}

void lifecycle::take_match_as_image(row& r) {
  routing_.count_choice(r);
  routing_.note_reuse(r);
  r.course.found_image();
}

// -- legs and stages ----------------------------------------------------------

void lifecycle::begin_leg(core::request_id id, row& r, uint32_t leg,
                          core::time_point now) {
  r.course.begin_leg(leg);
  slots_.begin_leg(r.held);
  next_stage(id, r, path_.first(hook::each_leg), now);
}

void lifecycle::prepare_for(core::request_id id, row& r,
                            core::variant_id variant, core::time_point now) {
  queueing_.leave(id, r, now);
  suspicions_.hold(id, r.course.leg());
  r.course.prepare_for(variant);
  slots_.begin_leg(r.held);
  next_stage(id, r, path_.first(hook::each_leg), now);
}

void lifecycle::restart_leg(core::request_id id, row& r, const core::error& why,
                            core::time_point now) {
  records_.count(&counters::legs_restarted);
  records_.fell_back(id, false, 0, why, now);
  core::log_warn("request {}: its newest state is lost, and its leg begins "
                 "anew: {}",
                 id.value, why.text);
  suspicions_.hold(id, r.course.leg());
  slots_.drop_found(r.held);
  slots_.drop_captures(r.held);
  begin_leg(id, r, r.course.leg(), now);
}

void lifecycle::leg_failed(core::request_id id, row& r, core::error why,
                           core::time_point now) {
  r.course.end_leg(why.code);
  if (std::holds_alternative<planning::give_up>(r.course.next()))
    return ends_.fail(id, r, row_state::failed, std::move(why), now);
  queueing_.leave(id, r, now);
  forecast_.uncount(id);
  slots_.drop_start(r.held);
  advance(id, r, now);
}

void lifecycle::next_stage(core::request_id id, row& r, size_t from,
                           core::time_point now) {
  const bool has_legs = !r.course.route().legs.empty();
  const auto due = r.course.answering() ? hook::before_answer : hook::each_leg;
  for (auto i = from; path_.is(i, due); ++i) {
    if (i == path_.denoise()) {
      if (has_legs)
        return enter(id, r, i, now);
      continue;
    }
    r.course.enter(i, path_.phase_of(i));
    auto order = path_.at(i).begin(view_of(r));
    if (!order)
      return stage_failed(id, r, std::move(order).why(), now);
    if (!*order)
      continue;
    if (auto fits = check_size(path_.at(i), **order); !fits)
      return stage_failed(id, r, std::move(fits).why(), now);
    r.course.set_order(std::move(**order));
    return enter(id, r, i, now);
  }
  if (r.course.answering())
    return ends_.answer(id, r, now);
  leg_over(id, r, now);
}

void lifecycle::enter(core::request_id id, row& r, size_t stage,
                      core::time_point now) {
  if (const auto record = suspicions_.leave(id, place_of(r)))
    ports_.clients->suspected(id, *record, false);
  r.course.enter(stage, path_.phase_of(stage));
  // Recall runs in the scheduler's process, so it could not have ended another
  // one.
  suspicions_.enter(id, place_of(r), path_.worker_of(stage) != role::recall);
  queueing_.wait(id, r, now, queues::end::back);
  if (suspicions_.is_poison(id))
    ends_.fail(id, r, row_state::failed,
               suspicions_.poison_of(id, place_of(r),
                                     "before the server was started again"),
               now);
}

core::result<void> lifecycle::check_size(const planning::any_stage& stage,
                                         const core::typed_body& order) const {
  const auto said = stage.px(order);
  if (!said)
    return said.why();
  const auto px = *said;
  const auto holds = ports_.slots->capacity(ipc::slot_kind::image);
  const auto pixel = gpu::drawn_bytes({1, 1});
  if (px == core::extent{}
      || (px.pixels() != 0 && (holds == 0 || px.pixels() <= holds / pixel)))
    return {};
  return core::fail(core::ec::invalid_argument,
                    "stage '{}' makes an image of {}x{} pixels, of {} bytes "
                    "each; an image slot (arena.image_slot_kib) holds {} bytes",
                    stage.row().name, px.width, px.height, pixel, holds);
}

core::result<void> lifecycle::keep(row& r, const held_slots& wrote) {
  const auto& stage = path_.at(r.course.stage());
  const auto px = stage.px(r.course.order());
  if (!px)
    return px.why();
  if (auto kept = slots_.keep(r.held, wrote, r.course.phase(), stage.row().name,
                              core::steps_to_run(r.course.recipe()), *px);
      !kept)
    return kept;
  if (wrote.granted[held::state])
    r.course.has_state(r.held.steps());
  if (wrote.granted[held::source])
    r.course.has_source();
  // A run of one step cannot be shortened: it starts from noise.
  if (r.held[held::source] && !r.course.recipe().from_image)
    slots_.drop_source(r.held);
  return {};
}

void lifecycle::leg_over(core::request_id id, row& r, core::time_point now) {
  if (r.course.route().legs.empty()) {
    if (!r.held.found())
      return choose_again(id, r, now);
    slots_.take_found(r.held);
    take_match_as_image(r);
  }
  advance(id, r, now);
}

void lifecycle::advance(core::request_id id, row& r, core::time_point now) {
  const auto next = r.course.next();
  if (const auto* run = std::get_if<planning::run_leg>(&next)) {
    expire_in_time(r);
    return begin_leg(id, r, run->leg, now);
  }
  if (const auto* with = std::get_if<planning::answer_with>(&next)) {
    ATELIER_EXPECTS(with->done == r.course.known().best,
                    "the answer is the newest image");
    return finish(id, r, now);
  }
  ends_.fail(id, r, row_state::failed,
             core::fail(std::get<planning::give_up>(next).why,
                        "no stage of route {} produced an image",
                        r.course.route().name),
             now);
}

void lifecycle::finish(core::request_id id, row& r, core::time_point now) {
  r.course.finish();
  slots_.drop_source(r.held);
  slots_.drop_found(r.held);
  next_stage(id, r, path_.first(hook::before_answer), now);
}

void lifecycle::stage_failed(core::request_id id, row& r, core::error why,
                             core::time_point now) {
  const auto stage = r.course.stage();
  const auto& row = path_.at(stage).row();
  if (row.otherwise == if_failed::fail)
    return ends_.fail(id, r, row_state::failed, std::move(why), now);
  core::log_warn("stage '{}' of request {}: {}", row.name, id.value,
                 core::to_string(why));
  records_.stage_left_out(stage);
  // Without earlier work to leave out, the same route would be chosen forever.
  if (row.otherwise == if_failed::choose_again && r.course.leg() == 0
      && r.course.known().done.empty() && view_of(r).from != nullptr)
    return choose_again(id, r, now);
  next_stage(id, r, stage + 1, now);
}

// -- time ---------------------------------------------------------------------

void lifecycle::expire(core::request_id id, row& r, core::time_point now) {
  const auto next =
    r.state() == row_state::asking
      ? planning::action{planning::give_up{core::ec::deadline_missed}}
      : r.course.late();
  if (!std::holds_alternative<planning::answer_with>(next))
    return ends_.fail(
      id, r, row_state::failed,
      core::fail(core::ec::deadline_missed,
                 "the deadline passed, or can no longer be met, "
                 "{:.1f} ms after arrival",
                 core::to_ms(now - r.request->arrived)),
      now);
  // An image exists already: only its encoding is left, late or not.
  requests_.set_due(r, core::never);
  if (r.course.answering())
    return;
  if (r.state() == row_state::waiting)
    queueing_.leave(id, r, now);
  else
    ends_.cancel_order(id, r);
  finish(id, r, now);
}

void lifecycle::expire_in_time(row& r) {
  if (r.due() == core::never
      || !std::holds_alternative<planning::answer_with>(r.course.late()))
    return;
  requests_.set_due(r, r.request->deadline - config_.answer_margin
                         - 2 * forecast_.finishing());
}

} // namespace atelier::actors
