// SPDX-License-Identifier: Apache-2.0

// Handles the reports of workers and the requests of a worker that dies. Long,
// because both end a dispatch by the same few functions, which are read with
// them.

#include <atelier/actors/hub.hpp>
#include <atelier/core/log.hpp>
#include <atelier/planning/row_work.hpp>
#include <atelier/planning/walk.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace atelier::actors {

namespace {

/// Whether another attempt could succeed.
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

/// Whether a row that was not even opened failed because its state could not be
/// read. Noise that cannot be read is torn; a published state may be anything.
bool may_be_unreadable(const denoised& x, uint32_t steps_before) {
  if (x.steps_run != 0 || x.steps_done != 0)
    return false;
  switch (x.failure.code) {
    case core::ec::io_failed:
      return true;
    case core::ec::bad_payload:
    case core::ec::not_found:
      return steps_before > 0;
    default:
      return false;
  }
}

/// Work that did not fit a worker's memory seldom fits later, or elsewhere: it
/// holds up others, and its client waits.
constexpr uint32_t most_memory_losses = 4;

/// Returns the losses without a gain after which a request fails.
uint32_t most_losses(core::ec code, uint32_t attempts) {
  return code == core::ec::out_of_resources
         ? std::min(attempts, most_memory_losses)
         : attempts;
}

// Returns nothing if the worker is gone or no timeline is recorded.
std::optional<timeline_track> track_in(const workers& all, core::worker_id id,
                                       const records& into) {
  const auto* w = into.draws() ? all.find(id) : nullptr;
  if (w == nullptr)
    return std::nullopt;
  return track_of(w->address, w->device);
}

} // namespace

bool hub::conclude(core::ticket who, core::time_point now, concluded& out,
                   bool sign) {
  auto ended = orders_.end(who);
  if (!ended) {
    records_.stale_reply();
    return false;
  }
  static_cast<dispatched&>(out) = std::move(*ended);
  auto& w = workers_.at(out.worker);
  if (sign)
    w.signs.heard(running(now));
  w.seat.stand_up(who, out.steps_left);
  w.batch.leave(who);
  follow(hosting_.row_ended(w, now), w, now);
  if (out.alone)
    workers_.each_beside(w, [this](worker& x) {
      x.trial.end();
      offer(x);
    });
  for (const auto lane : w.host.lanes())
    if (w.trial.draining())
      queues_.touch(alone_lane(lane));
    else
      queues_.touch_waiting(alone_lane(lane));
  // A trial waits for every worker of its process, including those without
  // queues.
  if (w.trial.draining() && !w.on_device())
    queues_.touch(pool_suspects_lane);
  out.slots = slots_.conclude(who);
  if (out.phase == phase::preparing && !out.side)
    requests_.count_ahead(out.tenant, false);
  return true;
}

// -- announcing ---------------------------------------------------------------

void hub::on(const worker_ready& x, core::time_point now) {
  auto* there = workers_.announce(x, *config_.profile, now);
  if (there == nullptr) {
    records_.stale_reply();
    return;
  }
  auto& w = *there;
  records_.ready(x.worker.process.process, now);
  if (w.on_device()) {
    forecast_.came(w.kind());
    queues_.touch(prepare_lane);
    for (const auto lane : w.host.lanes())
      queues_.touch_waiting(alone_lane(lane));
  } else {
    queues_.touch(pool_suspects_lane);
  }
  hosting::change start;
  if (w.on_device())
    start = hosting_.joined(w, x.failed, now);
  start.members = true;
  follow(start, w, now);
  if (x.worker.role == role::denoise_step)
    ports_.watch->cluster_changed(cluster());
  settle(now);
}

// -- path order ---------------------------------------------------------------

void hub::on(const stage_done& x, core::time_point now) {
  concluded done;
  if (orders_.denoises(x.ticket))
    return records_.stale_reply();
  if (!conclude(x.ticket, now, done))
    return settle(now);
  records_.worked(track_in(workers_, done.worker, records_),
                  to_string(path_.worker_of(done.stage)), x.ticket.id,
                  x.began_ns, x.took);
  auto why = x.failure;
  if (why.code == core::ec::none && x.stage != done.stage)
    why = core::fail(core::ec::internal,
                     "a worker answered for stage {} instead of '{}'", x.stage,
                     path_.at(done.stage).row().name);
  if (done.side) {
    slots_.discard(done.slots);
    aside_over(x, done, std::move(why), now);
    return settle(now);
  }
  auto* r = requests_.running(x.ticket);
  if (r == nullptr) {
    slots_.discard(done.slots);
    return settle(now);
  }
  note_returned(x.ticket.id, done, why, now);
  r->account.staged(done.phase, x.took);
  if (done.phase == phase::finishing)
    forecast_.finished(now - r->waiting_since());
  planning::facts told;
  if (why.code == core::ec::none)
    if (auto ended = path_.at(done.stage).end(x.outcome, told); !ended)
      why = ended.why();
  if (why.code == core::ec::none)
    if (auto kept = keep(*r, done); !kept)
      why = kept.why();
  if (why.code == core::ec::none) {
    r->account.note(x.notes);
    r->course.learn(std::move(told));
    next_stage(x.ticket.id, *r, done.stage + 1, now);
  } else if (path_.at(done.stage).row().otherwise
             == planning::if_failed::fail) {
    fall_back(x.ticket.id, *r, done, why, loss::told, now);
  } else {
    slots_.discard(done.slots);
    stage_failed(x.ticket.id, *r, std::move(why), now);
  }
  settle(now);
}

void hub::on(const stepping& x, core::time_point now) {
  auto* w = workers_.find(x.worker);
  if (w == nullptr) {
    records_.stale_reply();
    return;
  }
  const auto ran = running(now);
  w->signs.heard(ran);
  auto mark = [&](const std::vector<core::ticket>& rows, bool as) {
    for (const auto who : rows)
      if (const auto* d = orders_.find(who);
          d != nullptr && d->worker == w->id()) {
        orders_.report(who, as);
        if (as)
          orders_.renew(who, ran);
      }
  };
  mark(w->batch.rows(), false);
  mark(x.rows, true);
  w->batch.report(x.rows);
}

void hub::on(const stepped& x, core::time_point now) {
  auto* w = workers_.find(x.worker);
  if (w == nullptr) {
    records_.stale_reply();
    return;
  }
  const auto ran = running(now);
  w->signs.heard(ran);
  for (const auto who : w->batch.rows())
    orders_.renew(who, ran);
  if (const auto run = matching_.run_of(*w, x))
    forecast_.ran(*run, now);
  tell_costs();
  tell_slow(now);
  records_.ran(track_in(workers_, w->id(), records_), x, w->batch.rows());
  for (const auto& p : x.rows) {
    const auto* found = orders_.find(p.ticket);
    // What cannot be true of the order is no news of it.
    if (found == nullptr || found->worker != w->id()
        || found->phase != phase::denoising || p.steps_done > found->steps) {
      records_.stale_reply();
      continue;
    }
    orders_.renew(p.ticket, ran);
    if (const auto fewer = orders_.progress(p.ticket, p.steps_done);
        fewer > 0) {
      w->seat.ran(fewer);
      workers_.view_changed(*w);
    }
    // The row of an abandoned order still needs the state that the order began
    // with.
    if (p.published && !found->side)
      slots_.published(p.ticket);
    records_.stepped_on(p.ticket.id, now);
    if (auto* r = requests_.running(p.ticket);
        r != nullptr && r->request->wants_progress)
      ports_.clients->progressed(
        p.ticket.id, p.steps_done, core::steps_to_run(r->course.recipe()),
        p.published && r->request->preview_every > 0
          ? slots_.of(p.ticket).granted[planning::held::state]
          : ipc::slot_ref{});
  }
  settle(now);
}

void hub::note_returned(core::request_id id, const dispatched& x,
                        const core::error& why, core::time_point now) {
  records_.returned(id, x.phase, x.since,
                    track_in(workers_, x.worker, records_), why, now);
}

void hub::on(const denoised& x, core::time_point now) {
  concluded done;
  if (!orders_.denoises(x.ticket))
    return records_.stale_reply();
  if (!conclude(x.ticket, now, done))
    return settle(now);
  records_.steps_run(std::min(x.steps_run, done.steps));
  if (x.decoded_ns != 0)
    records_.worked(track_in(workers_, done.worker, records_), "decode",
                    x.ticket.id, x.decoded_ns - x.decode.count(), x.decode);
  auto* r = requests_.running(x.ticket);
  if (r == nullptr) {
    slots_.discard(done.slots);
    return settle(now);
  }
  note_returned(x.ticket.id, done, x.failure, now);
  records_.parts_of(x.ticket.id, done.since, x, now);
  forecast_.uncount(x.ticket.id);
  r->account.drew(x, r->request->arrived);
  r->account.ran(std::min(x.steps_run, done.steps));
  // The decoding time of a judged image includes the judge's time.
  if (const auto& ran = *r->course.running_leg();
      x.failure.code == core::ec::none && !ran.check && x.decode.count() > 0) {
    // Profiles have the times of a variant's own size.
    const auto& known =
      config_.profile->variants[r->course.recipe().variant.value];
    const auto own_size = [&](core::timespan took) {
      return planning::at_native_size(known, r->course.recipe().px, took);
    };
    forecast_.ended(r->course.recipe().variant, workers_.at(done.worker).kind(),
                    x.text, own_size(x.decode), own_size(x.encode));
    tell_costs();
  }
  const bool unreadable = may_be_unreadable(x, done.steps_before);
  if (unreadable || worth_retrying(x.failure.code)) {
    fall_back(x.ticket.id, *r, done, x.failure,
              unreadable ? loss::unreadable : loss::told, now);
    return settle(now);
  }
  // A row that had all its steps is only decoded after a death.
  records_.stepped_on(x.ticket.id, now);
  r->account.note(x.notes);
  records_.captured(x.captured.size());
  const bool drawn = x.failure.code == core::ec::none;
  const bool judged = drawn && r->course.running_leg()->check;
  r->course.end_leg(x.failure.code, judged ? records_.judged(x.score) : 0);
  slots_.end_leg(r->held, done.slots, drawn);
  if (drawn)
    records_.captures_without_slot(r->held.left_out());
  if (drawn)
    next_stage(x.ticket.id, *r, path_.denoise() + 1, now);
  else if (std::holds_alternative<planning::give_up>(r->course.next()))
    end_row(x.ticket.id, *r, row_state::failed, x.failure, now);
  else
    advance(x.ticket.id, *r, now);
  settle(now);
}

// -- falling back -------------------------------------------------------------

void hub::fall_back(core::request_id id, row& r, const concluded& x,
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
      records_.resumed();
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
    return stage_failed(id, r, suspicions_.poison_of(id, at, why.text), now);
  if (anew && suspicions_.may_restart(id))
    return restart_leg(id, r, why, now);
  const bool retry =
    !anew && worth_retrying(why.code)
    && found.losses < most_losses(why.code, config_.pace.attempts);
  if (!retry)
    return stage_failed(id, r, why, now);
  records_.fell_back(id, gained || r.held.steps() > 0, r.held.steps(), why,
                     now);
  // Suspects take turns.
  wait(id, r, now,
       suspicions_.is_alone(id) ? queues::end::back : queues::end::front);
}

void hub::restart_leg(core::request_id id, row& r, const core::error& why,
                      core::time_point now) {
  records_.leg_restarted();
  records_.fell_back(id, false, 0, why, now);
  core::log_warn("request {}: its newest state is lost, and its leg begins "
                 "anew: {}",
                 id.value, why.text);
  suspicions_.hold(id, r.course.leg());
  slots_.drop_found(r.held);
  slots_.drop_captures(r.held);
  begin_leg(id, r, r.course.leg(), now);
}

void hub::prepare_for(core::request_id id, row& r, core::variant_id variant,
                      core::time_point now) {
  leave_lane(id, r, now);
  suspicions_.hold(id, r.course.leg());
  r.course.prepare_for(variant);
  slots_.begin_leg(r.held);
  next_stage(id, r, path_.first(planning::hook::each_leg), now);
}

// -- death --------------------------------------------------------------------

void hub::suspected(ipc::process_life who, core::time_point now) {
  slots_.suspect(who);
  workers_.bury(who);
  records_.down(who.process, now);
  bool changed = false;
  std::vector<core::worker_id> suspects;
  for (auto& [id, w] : workers_.all()) {
    if (w.address.process != who || w.suspected())
      continue;
    workers_.suspect(w);
    offer(w);
    suspects.push_back(id);
    hosting_.changed();
    changed = changed || w.address.role == role::denoise_step;
  }
  for (const auto id : suspects)
    rehome(id, now);
  if (changed)
    ports_.watch->cluster_changed(cluster());
  settle(now);
}

void hub::lost(ipc::process_life who, bool confirmed, death cause,
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
  std::set<core::lane_id> served;
  for (const auto id : gone) {
    auto& w = workers_.at(id);
    queues_.withdraw(id);
    // Workers that leave when the engine stops did not die.
    if (!stopping_)
      records_.died(track_of(w.address, w.device), w.seat.orders(), now);
    served.insert(w.host.lanes().begin(), w.host.lanes().end());
    if (w.address.role == role::denoise_step) {
      devices = true;
      hosting_.died(w, cause, now);
      forecast_.gone(id);
      for (const auto lane : w.host.lanes())
        queues_.touch_waiting(alone_lane(lane));
    }
    workers_.remove(id);
    hosting_.changed();
    records_.worker_lost();
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
      suspicions_.delay(ticket.id);
    give_up(ticket, x, why, how, now);
  };
  for (const auto ticket : orphans)
    if (!std::binary_search(suspects.begin(), suspects.end(), ticket))
      give_back(ticket, loss::killed);
  for (const auto ticket : suspects)
    give_back(ticket, loss::suspicious);
  for (const auto id : gone)
    rehome(id, now);
  if (devices)
    ports_.watch->cluster_changed(cluster());
  settle(now);
}

} // namespace atelier::actors
