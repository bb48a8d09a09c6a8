// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/losses.hpp>
#include <atelier/core/log.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace atelier::actors {

namespace {

/// Work that did not fit a worker's memory seldom fits later, or elsewhere: it
/// holds up others, and its client waits.
constexpr uint32_t most_memory_losses = 4;

/// Returns the losses without a gain after which a request fails.
uint32_t most_losses(core::ec code, uint32_t attempts) {
  return code == core::ec::out_of_resources
         ? std::min(attempts, most_memory_losses)
         : attempts;
}

} // namespace

bool worth_retrying(core::ec code) {
  switch (code) {
    case core::ec::unavailable:
    case core::ec::out_of_resources:
    case core::ec::io_failed:
    case core::ec::incompatible:
    case core::ec::cancelled:
      return true;
    default:
      return false;
  }
}

losses::losses(parts& of, deliveries& out, queueing& waiting, lifecycle& rows,
               placement& places)
  : config_(of.config),
    ports_(of.ports),
    path_(of.path),
    slots_(of.slots),
    records_(of.records),
    requests_(of.requests),
    orders_(of.orders),
    workers_(of.workers),
    queues_(of.queues),
    hosting_(of.hosting),
    forecast_(of.forecast),
    suspicions_(of.suspicions),
    views_(of.views),
    matching_(of.matching),
    out_(out),
    queueing_(waiting),
    rows_(rows),
    placement_(places) {}

// -- the end of an order ------------------------------------------------------

std::optional<concluded> losses::conclude(core::ticket who,
                                          core::time_point now, bool sign) {
  auto ended = orders_.end(who);
  if (!ended) {
    records_.count(&counters::stale_replies);
    return std::nullopt;
  }
  concluded done{std::move(*ended), {}};
  auto& w = workers_.at(done.worker);
  if (sign)
    out_.heard(w, now);
  w.seat.stand_up(who, done.steps_left);
  w.batch.leave(who);
  placement_.follow(hosting_.row_ended(w, now), w, now);
  if (done.alone)
    workers_.each_beside(w, [this](worker& x) {
      x.trial.end();
      out_.offer(x);
    });
  look_for_trials(w);
  if (const auto* other = workers_.beside(w))
    look_for_trials(*other);
  // A trial waits for every worker of its process, including those without
  // queues.
  if (w.trial.draining() && !w.on_device())
    queues_.touch(pool_suspects_queue);
  done.slots = slots_.conclude(who);
  if (done.phase == phase::preparing && !done.side)
    requests_.count_ahead(done.tenant, false);
  return done;
}

void losses::look_for_trials(const worker& w) {
  for (const auto queue : w.host.queues())
    if (w.trial.draining())
      queues_.touch(alone_queue(queue));
    else
      queues_.touch_waiting(alone_queue(queue));
}

std::optional<timeline_track> losses::track(core::worker_id id) const {
  const auto* w = records_.draws() ? workers_.find(id) : nullptr;
  if (w == nullptr)
    return std::nullopt;
  return track_of(w->address, w->device);
}

void losses::note_returned(core::request_id id, const dispatched& x,
                           const core::error& why, core::time_point now) {
  records_.returned(id, x.phase, x.since, track(x.worker), why, now);
}

void losses::give_up(core::ticket who, const concluded& x,
                     const core::error& why, loss how, core::time_point now) {
  if (x.side) {
    slots_.discard(x.slots);
    stage_done nothing;
    nothing.ticket = who;
    return rows_.aside_over(nothing, x, why, now);
  }
  auto* r = requests_.running(who);
  if (r == nullptr)
    return slots_.discard(x.slots);
  note_returned(who.id, x, why, now);
  fall_back(who.id, *r, x, why, how, now);
}

void losses::fall_back(core::request_id id, row& r, const concluded& x,
                       const core::error& why, loss how, core::time_point now) {
  bool gained = false;
  bool anew = false;
  if (x.phase == phase::denoising) {
    const auto left =
      slots_.resume(r.held, x.slots, x.steps, how == loss::unreadable);
    // A living worker reports its steps itself. For a dead one, the steps that
    // it reported or left count, even if they are lost and run again.
    if (how != loss::told)
      r.account.ran(std::max({left.steps, x.steps_done, x.steps_before})
                    - x.steps_before);
    gained = left.holds
          && left.steps > std::max(x.steps_before, suspicions_.reached(id));
    if (left.holds)
      records_.count(&counters::resumed);
    anew = left.lost;
  } else {
    slots_.discard(x.slots);
  }
  const auto at = place_of(r);
  const auto found =
    suspicions_.lost(id, {how == loss::suspicious, x.alone, gained}, at);
  if (found.record)
    ports_.clients->suspected(id, *found.record, false);
  if (found.is_poison)
    return rows_.stage_failed(id, r, suspicions_.poison_of(id, at, why.text),
                              now);
  if (anew && suspicions_.count_restart(id))
    return rows_.restart_leg(id, r, why, now);
  const bool retry =
    !anew && worth_retrying(why.code)
    && found.losses < most_losses(why.code, config_.pace.attempts);
  if (!retry)
    return rows_.stage_failed(id, r, why, now);
  records_.fell_back(id, gained || r.held.steps() > 0, r.held.steps(), why,
                     now);
  // Suspects take turns.
  queueing_.wait(id, r, now,
                 suspicions_.is_alone(id) ? queues::end::back
                                          : queues::end::front);
}

// -- orders without an answer -------------------------------------------------

bool losses::end_unsent(core::time_point now) {
  bool any = false;
  while (const auto next = out_.next_unsent()) {
    any = true;
    const auto& [who, error] = *next;
    const auto done = conclude(who, now);
    if (!done)
      continue;
    const auto why = core::fail(error.code, "the order of stage '{}': {}",
                                path_.at(done->stage).row().name, error.text);
    give_up(who, *done, why, loss::told, now);
  }
  return any;
}

void losses::ask_about_orders(core::time_point now) {
  for (const auto who : orders_.unanswered(out_.running_time(now)))
    if (workers_.at(orders_.at(who).worker).address.process
        == ipc::process_life{})
      order_abandoned(who, now);
  for (const auto who : orders_.overdue(out_.running_time(now)))
    if (const auto& w = workers_.at(orders_.at(who).worker); !w.suspected())
      out_.tell(w, ask_order{who});
}

void losses::on(const has_order& x, core::time_point now) {
  const auto* of = orders_.find(x.ticket);
  if (of == nullptr || !orders_.is_asked(x.ticket)) {
    records_.count(&counters::stale_replies);
    return;
  }
  // A pool's worker answers after all earlier orders. A device's actors
  // answer for themselves only: their device may hang.
  if (auto& w = workers_.at(of->worker); !w.waits_for_device())
    w.signs.heard(out_.running_time(now));
  if (x.has)
    orders_.renew(x.ticket, out_.running_time(now));
  else
    order_lost(x.ticket, now);
}

void losses::order_lost(core::ticket who, core::time_point now) {
  const auto done = conclude(who, now, false);
  if (!done)
    return;
  records_.count(&counters::orders_lost);
  auto& w = workers_.at(done->worker);
  auto why = core::fail(core::ec::unavailable,
                        "an order to {} {}, or its answer, was lost",
                        to_string(w.address.role), w.address.index);
  core::log_warn("request {}, attempt {}: {}", who.id.value, who.attempt,
                 why.text);
  auto* r = done->side ? nullptr : requests_.running(who);
  const auto how = r == nullptr ? loss::unanswered : note_lost(*r, w, why);
  give_up(who, *done, why, how, now);
}

void losses::order_abandoned(core::ticket who, core::time_point now) {
  const auto& order = orders_.at(who);
  auto* r = order.side ? nullptr : requests_.running(who);
  if (r == nullptr)
    return;
  records_.count(&counters::orders_lost);
  auto& w = workers_.at(order.worker);
  auto why = core::fail(core::ec::unavailable, "{} {} does not respond",
                        to_string(w.address.role), w.address.index);
  core::log_warn("request {}, attempt {}: {}", who.id.value, who.attempt,
                 why.text);
  if (order.phase == phase::preparing)
    requests_.count_ahead(order.tenant, false);
  // From now on it moves no row, and keeps its slots. If it published, the row
  // has no state left.
  concluded without{order, {}};
  without.slots.published =
    order.phase == phase::denoising && slots_.of(who).published;
  orders_.abandon(who);
  const auto how = note_lost(*r, w, why);
  note_returned(who.id, without, why, now);
  fall_back(who.id, *r, without, why, how, now);
}

loss losses::note_lost(row& r, worker& w, core::error& why) {
  if (suspicions_.count_unanswered(r.request->id) == 1)
    return loss::unanswered;
  if (w.address.process == ipc::process_life{})
    why.code = core::ec::internal;
  else if (w.signs.lose_orders())
    ports_.watch->suspect(w.address.process, why.text);
  return loss::suspicious;
}

// -- deaths -------------------------------------------------------------------

void losses::suspected(ipc::process_life who, core::time_point now) {
  slots_.suspect(who);
  workers_.bury(who);
  records_.down(who.process, now);
  bool changed = false;
  std::vector<core::worker_id> suspects;
  for (auto& [id, w] : workers_.all()) {
    if (w.address.process != who || w.suspected())
      continue;
    workers_.suspect(w);
    out_.offer(w);
    suspects.push_back(id);
    hosting_.changed();
    changed = changed || w.address.role == role::denoise_step;
  }
  for (const auto id : suspects)
    queueing_.rehome(id, now);
  if (changed)
    ports_.watch->cluster_changed(views_.cluster());
}

void losses::lost(ipc::process_life who, bool confirmed, death cause,
                  core::time_point now) {
  slots_.lost(who, confirmed);
  workers_.bury(who);
  const auto gone = workers_.of(who);
  std::vector<core::ticket> orphans;
  std::vector<core::request_id> denoised;
  orders_.each([&](core::ticket ticket, const dispatched& x) {
    if (gone.count(x.worker) == 0)
      return;
    orphans.push_back(ticket);
    if (x.phase == phase::denoising && requests_.running(ticket) != nullptr)
      denoised.push_back(ticket.id);
  });
  records_.lost(who.process, std::move(denoised), requests_.open() > 0, now);
  // Each is put at the front of its queue, so the last one is first.
  std::sort(orphans.rbegin(), orphans.rend());
  const auto suspects =
    matching_.worked_on(std::vector(gone.begin(), gone.end()), cause);
  bool devices = false;
  std::set<core::queue_id> served;
  for (const auto id : gone) {
    auto& w = workers_.at(id);
    queues_.withdraw(id);
    // Workers that leave when the engine stops did not die.
    if (!requests_.stopping())
      records_.died(track_of(w.address, w.device), w.seat.orders(), now);
    served.insert(w.host.queues().begin(), w.host.queues().end());
    if (w.address.role == role::device_stage)
      queues_.touch_waiting(pool_suspects_queue);
    if (w.address.role == role::denoise_step) {
      devices = true;
      hosting_.died(w, cause, now);
      forecast_.gone(id);
      for (const auto queue : w.host.queues())
        queues_.touch_waiting(alone_queue(queue));
    }
    workers_.remove(id);
    hosting_.changed();
    records_.count(&counters::workers_lost);
  }
  if (!suspects.empty()) {
    ports_.watch->request_caused(who);
    note_delayed(served);
  }
  const auto why =
    core::fail(core::ec::unavailable, "the worker's process {} {}",
               who.process.value, to_string(cause));
  const auto give_back = [&](core::ticket ticket, loss how) {
    const concluded x{*orders_.end(ticket), slots_.orphan(ticket)};
    if (x.phase == phase::preparing && !x.side)
      requests_.count_ahead(x.tenant, false);
    if (how == loss::killed && !suspects.empty() && !x.side
        && requests_.running(ticket) != nullptr)
      suspicions_.note_delay(ticket.id);
    give_up(ticket, x, why, how, now);
  };
  for (const auto ticket : orphans)
    if (!std::binary_search(suspects.begin(), suspects.end(), ticket))
      give_back(ticket, loss::killed);
  for (const auto ticket : suspects)
    give_back(ticket, loss::suspicious);
  for (const auto id : gone)
    queueing_.rehome(id, now);
  if (devices)
    ports_.watch->cluster_changed(views_.cluster());
}

void losses::note_delayed(const std::set<core::queue_id>& served) {
  for (const auto queue : served) {
    if (workers_.anyone_serves(queue))
      continue;
    for (const auto id : queues_.of(queue))
      if (suspicions_.note_delay(id))
        queues_.hold_up(id);
  }
}

} // namespace atelier::actors
