// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/queueing.hpp>

namespace atelier::actors {

queueing::queueing(parts& of)
  : records_(of.records),
    requests_(of.requests),
    workers_(of.workers),
    queues_(of.queues),
    forecast_(of.forecast),
    suspicions_(of.suspicions),
    views_(of.views),
    matching_(of.matching) {}

void queueing::wait(core::request_id id, row& r, core::time_point now,
                    queues::end at) {
  requests_.wait(r, now);
  if (r.course.phase() == phase::denoising)
    requests_.count_ahead(r.request->tenant, true);
  count_work(id, r);
  const auto queue = matching_.queue_of(r);
  const auto entry = matching_.entry_of(r);
  // A request that can no longer be in time need not wait until it is late.
  if (r.request->deadline != core::never && !r.course.known().best
      && forecast_.knows_pace(r.course.recipe().variant))
    requests_.set_due(r, r.request->deadline - entry.still_needs);
  if (r.course.phase() == phase::denoising)
    count_waiting(r.course.recipe().variant, queue, true);
  queues_.push(queue, entry, at, {suspicions_.is_held_up(id), is_under_way(r)});
}

void queueing::leave(core::request_id id, row& r, core::time_point now) {
  leave_for_worker(id, r, r.course.recipe().variant, now);
  if (!suspicions_.is_alone(id))
    return;
  // A worker may be draining for this row only.
  for (const auto& [who, w] : workers_.all())
    if (w.trial.draining())
      for (const auto queue : w.host.queues())
        queues_.touch(alone_queue(queue));
}

void queueing::leave_for_worker(core::request_id id, row& r,
                                core::variant_id waited_for,
                                core::time_point now) {
  const auto at = queues_.where(id);
  if (at && r.course.phase() == phase::denoising) {
    count_waiting(waited_for, *at, false);
    discount_ahead(r.request->tenant);
  }
  queues_.remove(id);
  r.account.waited(now - r.waiting_since());
  records_.waited(id, r.course.phase(), r.waiting_since(), now);
}

void queueing::rehome(core::worker_id gone, core::time_point now) {
  const auto own = planning::queue_of(gone);
  for (const auto queue : {own, alone_queue(own)})
    for (const auto id : queues_.of(queue)) {
      auto& r = requests_.at(id);
      leave(id, r, now);
      wait(id, r, now, queues::end::back);
    }
}

void queueing::discount_ahead(core::tenant_id whose) {
  requests_.count_ahead(whose, false);
  // Another row may be prepared now, before a trial of a suspect begins.
  if (queues_.empty(pool_suspects_queue))
    return;
  queues_.feed(device_stage_queue);
  queues_.feed(recall_queue);
  queues_.feed(prepare_queue);
}

void queueing::count_waiting(core::variant_id variant, core::queue_id queue,
                             bool comes) {
  records_.waits(variant, comes);
  const core::queue_id shared{queue.value
                              & ~alone_queue(core::queue_id{0}).value};
  const auto of = planning::worker_of(shared);
  if (!of)
    records_.waits_shared(core::variant_id{shared.value}, comes);
  else
    workers_.count_waiting(*of, comes);
}

void queueing::count_work(core::request_id id, const row& r) {
  if (r.course.phase() == phase::finishing)
    return forecast_.uncount(id);
  views_.cluster();
  forecast_.count(id, r.course.recipe(), steps_left(r), r.request->tenant);
}

} // namespace atelier::actors
