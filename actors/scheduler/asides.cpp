// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/asides.hpp>
#include <atelier/core/log.hpp>
#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/question_budget.hpp>

#include <utility>

namespace atelier::actors {

using planning::held;
using planning::hook;
using planning::if_failed;

asides::asides(parts& of, deliveries& out)
  : config_(of.config),
    ports_(of.ports),
    path_(of.path),
    slots_(of.slots),
    records_(of.records),
    rules_(of.rules),
    requests_(of.requests),
    workers_(of.workers),
    questions_(of.questions),
    probes_(of.probes),
    views_(of.views),
    out_(out) {}

// -- facts --------------------------------------------------------------------

core::result<bool> asides::ask(core::request_id id, row& r,
                               const planning::need& wants,
                               core::time_point now) {
  questions_.begin(id, wants, now);
  // While a row asks, its view shows no route.
  requests_.ask(r);
  for (size_t i = 0; path_.is(i, hook::before_route); ++i) {
    const auto& row = path_.at(i).row();
    auto made = path_.at(i).begin(
      r.course.view_without_route(r.held, r.account.notes(), wants));
    if (made && !*made)
      continue;
    const auto left = planning::question_budget(row.budget, row.budget_share,
                                                now, r.request->deadline);
    if (made && order(id, r, i, std::move(**made), left, now)) {
      questions_.looks(id, i, core::after(now, left));
      continue;
    }
    records_.stage_left_out(i);
    if (row.otherwise == if_failed::fail)
      return made ? core::fail(core::ec::unavailable,
                               "no worker is free for stage '{}'", row.name)
                  : std::move(made).why();
  }
  if (questions_.is_open(id))
    return true;
  requests_.stop_asking(r);
  return false;
}

std::optional<asides::answered> asides::over(const stage_done& x,
                                             const dispatched& was,
                                             core::error why,
                                             core::time_point now) {
  const auto id = x.ticket.id;
  if (!path_.is(was.stage, hook::before_route))
    remembered(x, was.stage, std::move(why));
  else if (probes::is_probe(id))
    probe_over(x, was, why, now);
  else if (auto* r = requests_.find(id);
           r != nullptr && questions_.answered(id, was.question, was.stage))
    return answered{id, learn(id, *r, was.stage, x, std::move(why))};
  else
    records_.count(&counters::stale_replies);
  return std::nullopt;
}

core::result<void> asides::learn(core::request_id id, row& r, size_t stage,
                                 const stage_done& x, core::error why) {
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
  if (why.code == core::ec::none)
    return {};
  const auto& row = path_.at(stage).row();
  records_.stage_left_out(stage);
  if (row.otherwise == if_failed::fail)
    return why;
  core::log_warn("stage '{}' of request {}: {}", row.name, id.value,
                 core::to_string(why));
  return {};
}

core::result<void> asides::end(core::request_id id, row& r,
                               core::time_point now) {
  const auto x = questions_.end(id, now);
  const bool late = !x.late.empty();
  for (const auto stage : x.late)
    records_.stage_left_out(stage);
  for (const auto stage : x.late)
    if (const auto& row = path_.at(stage).row();
        row.otherwise == if_failed::fail)
      return core::fail(core::ec::unavailable,
                        "stage '{}' did not answer in time", row.name);
  requests_.stop_asking(r);
  if (late)
    records_.count(&counters::facts_late);
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
  return {};
}

// -- searches that no request waits for ---------------------------------------

void asides::probe(const std::shared_ptr<const core::request>& asked,
                   core::time_point now) {
  if (const auto since = probes_.end_late(config_.pace.facts, now))
    note_retrieval({core::to_seconds(now - *since), true, now});
  if (!probes_.is_due(rules_.plan()->probe_every, now))
    return;
  auto like = std::make_shared<core::request>(*asked);
  like->kind = core::request_kind::probe;
  like->id = probes_.next(now);
  like->source = nullptr;
  row nobodys;
  nobodys.request = like;
  nobodys.course.begin(*like, *config_.profile, rules_.plan(),
                       rules_.route_slots());
  planning::need wanted;
  wanted.near = true;
  for (size_t i = 0; path_.is(i, hook::before_route); ++i) {
    if (!path_.at(i).row().on_demand)
      continue;
    auto made = path_.at(i).begin(
      nobodys.course.view_without_route(nobodys.held, {}, wanted));
    if (made && *made
        && order(like->id, nobodys, i, std::move(**made), config_.pace.facts,
                 now))
      return probes_.begin(now);
  }
}

void asides::probe_over(const stage_done& x, const dispatched& was,
                        const core::error& why, core::time_point now) {
  const auto since = probes_.end(x.ticket.id);
  if (!since)
    return;
  planning::facts told;
  const bool failed = why.code != core::ec::none
                   || !path_.at(was.stage).end(x.outcome, told) || !told.near;
  note_retrieval(
    {core::to_seconds(failed ? now - *since : x.took), failed, now});
}

void asides::note_retrieval(planning::retrieval_sample x) {
  records_.retrieved(x);
  const auto& kept = records_.counts().retrievals;
  if (!rules_.calls_for_plan(kept))
    return;
  auto there = views_.cluster();
  there.retrievals = kept;
  ports_.watch->cluster_changed(std::move(there));
}

// -- after the answer ---------------------------------------------------------

void asides::remember(core::request_id id, row& r, core::time_point now) {
  for (auto i = path_.first(hook::after_answer);
       path_.is(i, hook::after_answer); ++i) {
    auto made = path_.at(i).begin(view_of(r));
    const bool wants = made && *made;
    if (!made)
      core::log_warn("request {}: {}", id.value, core::to_string(made.why()));
    if (!made
        || (wants
            && !order(id, r, i, std::move(**made), core::timespan::max(), now)))
      records_.stage_left_out(i);
  }
}

void asides::remembered(const stage_done& x, size_t stage, core::error why) {
  if (why.code == core::ec::none) {
    planning::facts told;
    if (auto ended = path_.at(stage).end(x.outcome, told); !ended)
      why = ended.why();
  }
  if (why.code == core::ec::none)
    return;
  core::log_warn("stage '{}' of request {}: {}", path_.at(stage).row().name,
                 x.ticket.id.value, core::to_string(why));
  records_.stage_left_out(stage);
}

// -- orders -------------------------------------------------------------------

worker* asides::free_worker(size_t stage) {
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
  return free;
}

const held_slots* asides::give_slots(core::ticket who, const row& r,
                                     size_t stage, ipc::process_life life) {
  const bool brings = r.request->source != nullptr;
  planning::slot_set reads;
  bool files = false;
  for (const auto& x : path_.at(stage).row().slots) {
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
  return files
         ? slots_.grant_with_files(who, life, {}, *r.request->source, left_free)
         : slots_.read_alone(who, life, reads);
}

bool asides::order(core::request_id id, row& r, size_t stage,
                   core::typed_body what, core::timespan left,
                   core::time_point now) {
  auto* const w = free_worker(stage);
  if (w == nullptr)
    return false;
  const core::ticket who{id, r.next_dispatch()};
  const auto* given = give_slots(who, r, stage, w->address.process);
  if (given == nullptr) {
    records_.count(&counters::slot_waits);
    return false;
  }
  dispatched x;
  x.worker = w->id();
  x.tenant = r.request->tenant;
  x.stage = stage;
  x.phase = path_.phase_of(stage);
  x.side = true;
  x.question = questions_.number(id);
  x.since = now;
  requests_.count_aside(r);
  out_.hand_over(who, std::move(x), *w,
                 planning::longest_time_of(path_.at(stage), what,
                                           *config_.profile,
                                           r.course.px(r.held)),
                 now);
  out_.offer(*w);
  records_.count(&counters::dispatched);
  run_stage message;
  message.ticket = who;
  message.stage = static_cast<uint16_t>(stage);
  message.left = left;
  message.reads = given->reading;
  message.is_short = path_.at(stage).is_short(what);
  message.px = r.course.px(r.held);
  message.order = std::move(what);
  out_.send(*w, who, std::move(message));
  return true;
}

} // namespace atelier::actors
