// SPDX-License-Identifier: Apache-2.0

// From stage to stage of the pipeline:
//
//   before_route  (aside: facts)        hub_facts.cpp
//   each_leg      next_stage ... denoise ... next_stage, leg_over
//   before_answer next_stage ... answer_row
//   after_answer  (aside: remember)
//
// One dispatch moves a row. Work that runs aside finds facts or remembers, and
// delays no request.

#include <atelier/actors/hub.hpp>
#include <atelier/core/log.hpp>
#include <atelier/planning/walk.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

using planning::held;
using planning::hook;
using planning::if_failed;

core::result<void> hub::keep(row& r, const concluded& done) {
  const auto& wrote = done.slots;
  if (auto kept = slots_.keep(r.held, wrote, r.course.phase(),
                              path_.at(r.course.stage()).row().name,
                              core::steps_to_run(r.course.recipe()));
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

void hub::next_stage(core::request_id id, row& r, size_t from,
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
    r.course.set_order(std::move(**order));
    return enter(id, r, i, now);
  }
  if (r.course.answering())
    return answer_row(id, r, now);
  leg_over(id, r, now);
}

void hub::leg_over(core::request_id id, row& r, core::time_point now) {
  if (r.course.route().legs.empty()) {
    if (!r.held.found())
      return choose_again(id, r, now);
    slots_.take_found(r.held);
    take_match_as_image(r);
  }
  advance(id, r, now);
}

void hub::stage_failed(core::request_id id, row& r, core::error why,
                       core::time_point now) {
  const auto stage = r.course.stage();
  const auto& row = path_.at(stage).row();
  if (row.otherwise == if_failed::fail)
    return end_row(id, r, row_state::failed, std::move(why), now);
  core::log_warn("stage '{}' of request {}: {}", row.name, id.value,
                 core::to_string(why));
  records_.stage_left_out(stage);
  // Without earlier work to leave out, the same route would be chosen forever.
  if (row.otherwise == if_failed::choose_again && r.course.leg() == 0
      && r.course.known().done.empty() && view_of(r).from != nullptr)
    return choose_again(id, r, now);
  next_stage(id, r, stage + 1, now);
}

void hub::choose_again(core::request_id id, row& r, core::time_point now) {
  forecast_.uncount(id);
  r.course.leave_route();
  slots_.drop_start(r.held);
  requests_.stop_asking(r);
  choose_route(id, r, now);
}

// -- aside --------------------------------------------------------------------

bool hub::order_aside(core::request_id id, row& r, size_t stage,
                      core::typed_body order, core::timespan left,
                      core::time_point now) {
  const auto wanted = path_.worker_of(stage);
  // The first worker gets all that is to be remembered, so that searches need
  // not wait for it at the others.
  const bool remembers = path_.is(stage, hook::after_answer);
  worker* free = nullptr;
  for (auto& [at, w] : workers_.all())
    if (w.address.role == wanted && w.takes_more()
        && (free == nullptr
            || (!remembers && w.seat.taken() <= free->seat.taken())))
      free = &w;
  if (free == nullptr)
    return false;
  auto& w = *free;
  const core::ticket who{id, r.next_dispatch()};
  const auto life = w.address.process;
  const auto& row = path_.at(stage).row();
  const bool brings = r.request->source != nullptr;
  planning::slot_set reads;
  bool files = false;
  for (const auto& x : row.slots) {
    if (x.mode != planning::access::reads || !x.applies(nullptr, brings))
      continue;
    files = files || (x.name == held::files && brings);
    if (x.name == held::capture)
      reads.captures = r.held.captures();
    else
      reads[x.name] = r.held[x.name];
  }
  // The files' slot, and one with which rows that are further along can
  // continue.
  constexpr slot_counts left_free{0, 2, 0};
  const auto* given =
    files
      ? slots_.grant_with_files(who, life, {}, *r.request->source, left_free)
      : slots_.read_alone(who, life, reads);
  if (given == nullptr) {
    records_.slot_wait();
    return false;
  }
  dispatched x;
  x.worker = w.id();
  x.tenant = r.request->tenant;
  x.stage = stage;
  x.phase = path_.phase_of(stage);
  x.side = true;
  x.question = questions_.number(id);
  x.since = now;
  requests_.count_aside(r);
  hand_over(who, std::move(x), w,
            path_.at(stage).takes(order, *config_.profile), now);
  offer(w);
  records_.dispatched();
  run_stage message;
  message.ticket = who;
  message.stage = static_cast<uint16_t>(stage);
  message.left = left;
  message.reads = given->reading;
  message.is_short = path_.at(stage).is_short(order);
  message.order = std::move(order);
  send(w, who, std::move(message));
  return true;
}

void hub::remember(core::request_id id, row& r, core::time_point now) {
  for (auto i = path_.first(hook::after_answer);
       path_.is(i, hook::after_answer); ++i) {
    auto order = path_.at(i).begin(view_of(r));
    const bool wants = order && *order;
    if (!order)
      core::log_warn("request {}: {}", id.value, core::to_string(order.why()));
    if (!order
        || (wants
            && !order_aside(id, r, i, std::move(**order), core::timespan::max(),
                            now)))
      records_.stage_left_out(i);
  }
}

void hub::aside_over(const stage_done& x, const dispatched& was,
                     core::error why, core::time_point now) {
  if (!path_.is(was.stage, hook::before_route)) {
    if (why.code == core::ec::none) {
      planning::facts told;
      if (auto ended = path_.at(was.stage).end(x.outcome, told); !ended)
        why = ended.why();
    }
    if (why.code != core::ec::none) {
      core::log_warn("stage '{}' of request {}: {}",
                     path_.at(was.stage).row().name, x.ticket.id.value,
                     core::to_string(why));
      records_.stage_left_out(was.stage);
    }
    return;
  }
  if (probe_over(x, was, why, now))
    return;
  auto* r = requests_.find(x.ticket.id);
  if (r == nullptr
      || !questions_.answered(x.ticket.id, was.question, was.stage))
    return records_.stale_reply();
  question_over(x.ticket.id, *r, was.stage, x, std::move(why), now);
}

} // namespace atelier::actors
