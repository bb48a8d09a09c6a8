// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/replies.hpp>
#include <atelier/core/log.hpp>
#include <atelier/planning/row_work.hpp>
#include <atelier/planning/walk.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace atelier::actors {

namespace {

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

} // namespace

replies::replies(parts& of, deliveries& out, queueing& waiting, lifecycle& rows,
                 endings& ends, placement& places, losses& without)
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
    views_(of.views),
    matching_(of.matching),
    out_(out),
    queueing_(waiting),
    rows_(rows),
    ends_(ends),
    placement_(places),
    losses_(without) {}

bool replies::stale() {
  records_.count(&counters::stale_replies);
  return false;
}

bool replies::on(const worker_ready& x, core::time_point now) {
  auto* there = workers_.announce(x, *config_.profile, now);
  if (there == nullptr)
    return stale();
  auto& w = *there;
  records_.ready(x.worker.process.process, now);
  if (w.on_device()) {
    forecast_.came(w.kind());
    queues_.touch(device_stage_queue);
    queues_.touch(prepare_queue);
    for (const auto queue : w.host.queues())
      queues_.touch_waiting(alone_queue(queue));
  } else {
    queues_.touch(pool_suspects_queue);
  }
  hosting::change start;
  if (w.on_device())
    start = hosting_.joined(w, x.failed, now);
  start.members = true;
  placement_.follow(start, w, now);
  if (x.worker.role == role::denoise_step)
    ports_.watch->cluster_changed(views_.cluster());
  return true;
}

bool replies::on(const stage_done& x, core::time_point now) {
  if (orders_.denoises(x.ticket))
    return stale();
  const auto ended = losses_.conclude(x.ticket, now);
  if (!ended)
    return true;
  const auto& done = *ended;
  records_.worked(losses_.track(done.worker),
                  to_string(path_.worker_of(done.stage)), x.ticket.id,
                  x.began_ns, x.took);
  auto why = x.failure;
  if (why.code == core::ec::none && x.stage != done.stage)
    why = core::fail(core::ec::internal,
                     "a worker answered for stage {} instead of '{}'", x.stage,
                     path_.at(done.stage).row().name);
  if (done.side) {
    slots_.discard(done.slots);
    rows_.aside_over(x, done, std::move(why), now);
    return true;
  }
  auto* r = requests_.running(x.ticket);
  if (r == nullptr) {
    slots_.discard(done.slots);
    return true;
  }
  losses_.note_returned(x.ticket.id, done, why, now);
  r->account.staged(done.phase, x.took);
  if (done.phase == phase::finishing)
    forecast_.finished(now - r->waiting_since());
  planning::facts told;
  if (why.code == core::ec::none)
    if (auto read = path_.at(done.stage).end(x.outcome, told); !read)
      why = read.why();
  if (why.code == core::ec::none)
    if (auto kept = rows_.keep(*r, done.slots); !kept)
      why = kept.why();
  if (why.code == core::ec::none) {
    r->account.note(x.notes);
    r->course.learn(std::move(told));
    rows_.next_stage(x.ticket.id, *r, done.stage + 1, now);
  } else if (path_.at(done.stage).row().otherwise
             == planning::if_failed::fail) {
    losses_.fall_back(x.ticket.id, *r, done, why, loss::told, now);
  } else {
    slots_.discard(done.slots);
    rows_.stage_failed(x.ticket.id, *r, std::move(why), now);
  }
  return true;
}

void replies::on(const stepping& x, core::time_point now) {
  auto* w = workers_.find(x.worker);
  if (w == nullptr || !w->waits_for_device()) {
    records_.count(&counters::stale_replies);
    return;
  }
  const auto ran = out_.running_time(now);
  out_.heard(*w, now);
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

bool replies::on(const stepped& x, core::time_point now) {
  auto* w = workers_.find(x.worker);
  if (w == nullptr || !w->on_device())
    return stale();
  const auto ran = out_.running_time(now);
  out_.heard(*w, now);
  for (const auto who : w->batch.rows())
    if (const auto* order = orders_.find(who);
        order != nullptr && order->worker == w->id())
      orders_.renew(who, ran);
  if (const auto run = matching_.run_of(*w, x))
    forecast_.ran(*run, now);
  tell_costs();
  tell_slow(now);
  records_.ran(losses_.track(w->id()), x, w->batch.rows());
  for (const auto& p : x.rows) {
    const auto* found = orders_.find(p.ticket);
    // What cannot be true of the order is no news of it.
    if (found == nullptr || found->worker != w->id()
        || found->phase != phase::denoising || p.steps_done > found->steps) {
      records_.count(&counters::stale_replies);
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
  return true;
}

bool replies::on(const denoised& x, core::time_point now) {
  if (!orders_.denoises(x.ticket))
    return stale();
  const auto ended = losses_.conclude(x.ticket, now);
  if (!ended)
    return true;
  const auto& done = *ended;
  records_.count(&counters::steps_run, std::min(x.steps_run, done.steps));
  if (x.decoded_ns != 0)
    records_.worked(losses_.track(done.worker), "decode", x.ticket.id,
                    x.decoded_ns - x.decode.count(), x.decode);
  auto* r = requests_.running(x.ticket);
  if (r == nullptr) {
    slots_.discard(done.slots);
    return true;
  }
  losses_.note_returned(x.ticket.id, done, x.failure, now);
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
    losses_.fall_back(x.ticket.id, *r, done, x.failure,
                      unreadable ? loss::unreadable : loss::told, now);
    return true;
  }
  // A row that had all its steps is only decoded after a death.
  records_.stepped_on(x.ticket.id, now);
  r->account.note(x.notes);
  records_.count(&counters::captured, x.captured.size());
  const bool drawn = x.failure.code == core::ec::none;
  const bool judged = drawn && r->course.running_leg()->check;
  r->course.end_leg(x.failure.code, judged ? records_.judged(x.score) : 0);
  slots_.end_leg(r->held, done.slots, drawn);
  if (drawn)
    records_.count(&counters::captures_without_slot, r->held.left_out());
  if (drawn)
    rows_.next_stage(x.ticket.id, *r, path_.denoise() + 1, now);
  else if (std::holds_alternative<planning::give_up>(r->course.next()))
    ends_.fail(x.ticket.id, *r, row_state::failed, x.failure, now);
  else
    rows_.advance(x.ticket.id, *r, now);
  return true;
}

// -- what the reports say of devices ------------------------------------------

void replies::tell_slow(core::time_point now) {
  const auto slow = forecast_.slow_news(now);
  if (!slow)
    return;
  for (auto& [id, w] : workers_.all()) {
    const bool is = std::binary_search(slow->begin(), slow->end(), id);
    if (w.slow() == is)
      continue;
    workers_.set_slow(w, is);
    hosting_.changed();
    out_.offer(w);
    if (is)
      core::log_warn("device {} takes several times as long as others for the "
                     "same steps: plans leave it out",
                     w.device);
    else
      core::log_info("plans use device {} again", w.device);
  }
  for (const auto id : *slow)
    queueing_.rehome(id, now);
  ports_.watch->cluster_changed(views_.cluster());
}

void replies::tell_costs() {
  auto news = forecast_.cost_news();
  if (!news)
    return;
  workers_.show(std::move(*news));
  ports_.watch->cluster_changed(views_.cluster());
}

} // namespace atelier::actors
