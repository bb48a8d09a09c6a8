// SPDX-License-Identifier: Apache-2.0

// Rows whose worker's process died while it worked on them are tried alone, so
// that a second death proves that one was to blame:
//
//   suspect --two deaths alone, nothing gained--> poison
//   suspect --its phase ends--> like any other row
//
// A death alone delays the requests that wait for the same worker. So no trial
// starts while a request waits there that was already delayed by a death that
// another request caused: each request is delayed at most once.

#include <atelier/actors/scheduler/dispatcher.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace atelier::actors {

namespace {

constexpr auto image_kind = static_cast<size_t>(ipc::slot_kind::image);

} // namespace

dispatcher::dispatcher(parts& of, deliveries& out, queueing& waiting,
                       lifecycle& rows, placement& places, order_maker& maker)
  : ports_(of.ports),
    slots_(of.slots),
    records_(of.records),
    rules_(of.rules),
    requests_(of.requests),
    workers_(of.workers),
    queues_(of.queues),
    hosting_(of.hosting),
    forecast_(of.forecast),
    suspicions_(of.suspicions),
    matching_(of.matching),
    out_(out),
    queueing_(waiting),
    rows_(rows),
    placement_(places),
    maker_(maker) {}

// -- queues -------------------------------------------------------------------

void dispatcher::pump(core::time_point now) {
  queues_.feed();
  placement_.look_anew();
  while (const auto queue = queues_.next())
    pump_queue(*queue, now);
  placement_.tell_waiting();
  end_filling();
}

void dispatcher::pump_queue(core::queue_id queue, core::time_point now) {
  if (queue == pool_suspects_queue)
    return pump_pool_suspects(now);
  const bool pool = is_pool(queue);
  if (!pool && (queue.value & alone_queue(core::queue_id{0}).value) != 0)
    return pump_alone(queue, now);
  // Workers with seats that are left for others than those who wait.
  std::vector<core::worker_id> passed;
  while (!queues_.empty(queue)) {
    if (queues_.offered(queue).empty()) {
      if (!pool) {
        if (placement_.end_unloadable(queue, now))
          continue;
        placement_.look_for_host(queue);
        if (rules_.plan()->grouped)
          hosting_.crowded();
      }
      return;
    }
    const bool grouped =
      rules_.plan()->grouped && !pool && !planning::worker_of(queue);
    const auto seat = grouped ? matching_.seat_in_group(queue, now)
                              : matching_.choose_worker(queue, now, passed);
    if (!seat) {
      if (grouped)
        hosting_.crowded();
      else
        // Other rows of the workers may free a seat for those left out.
        queues_.starve(queue, queues::lack::seat);
      return;
    }
    auto& w = workers_.at(*seat);
    const auto group = grouped && w.seat.taken() > 0
                       ? matching_.queues_beside(queue, w)
                       : std::vector<core::queue_id>{};
    const auto from =
      std::span<const core::queue_id>{group.empty() ? w.host.queues() : group};
    const auto leave = matching_.closed_to(w, queue);
    auto did = dispatch_first(from, w, leave, now);
    // Tenants that have none there may be behind the first rows; slots are left
    // for them by those that have some.
    if (did == dispatching::no_slots)
      if (const auto crowd = matching_.closed_to_crowd(w, leave);
          crowd.size() > leave.size()
          && dispatch_first(from, w, crowd, now) == dispatching::went)
        did = dispatching::went;
    switch (did) {
      case dispatching::went:
        break;
      case dispatching::nobody:
        if (!leave.empty() && !grouped && !pool) {
          passed.push_back(w.id());
          break;
        }
        if (!leave.empty() || !passed.empty())
          queues_.starve(queue, queues::lack::seat);
        return;
      case dispatching::no_slots: {
        const auto served = pool ? std::vector{queue} : w.host.queues();
        if (dispatch_under_way(served, w, now))
          break;
        queues_.starve(queue);
        // A trial waits for delayed requests only while they can continue.
        if (queues_.held_up().count(queue) == 0)
          return;
        for (const auto beside : served)
          queues_.touch_waiting(pool ? pool_suspects_queue
                                     : alone_queue(beside));
        if (const auto* const other = workers_.beside(w))
          for (const auto beside : other->host.queues())
            queues_.touch_untried(alone_queue(beside));
        return;
      }
    }
  }
}

dispatcher::dispatching dispatcher::dispatch_first(
  std::span<const core::queue_id> from, worker& w,
  std::span<const core::tenant_id> without, core::time_point now) {
  auto queue = matching_.next_rows(from, w, without, now);
  if (queue.empty())
    return matching::is_bounded(w) ? dispatching::no_slots
                                   : dispatching::nobody;
  return dispatch_one(std::move(queue), w, now);
}

dispatcher::dispatching dispatcher::dispatch_one(
  std::vector<planning::waiting> queue, worker& w, core::time_point now) {
  while (!queue.empty()) {
    auto id = queue.front().request;
    std::vector<core::request_id> late;
    if (w.on_device()) {
      // One at a time, so that a shared queue's rows spread over its workers.
      auto chosen =
        rules_.policy().take(w.view_of_one_seat(), queue, *rules_.plan(), now);
      late = std::move(chosen.late);
      for (const auto x : late)
        if (auto* r = requests_.find(x))
          rows_.expire(x, *r, now);
      if (chosen.join.empty())
        return late.empty() ? dispatching::nobody : dispatching::went;
      id = chosen.join.front();
    }
    if (dispatch(id, w, now))
      return dispatching::went;
    records_.count(&counters::slot_waits);
    const auto& r = requests_.at(id);
    if (const auto& needs = r.course.stage_slots();
        r.course.phase() == phase::preparing && needs.reads_files)
      slots_.wait_for_images(id, needs.granted[image_kind]
                                   + needs.reserve[image_kind]);
    // Slots are left for a tenant that has none.
    const auto whose = r.request->tenant;
    std::erase_if(queue, [&](const planning::waiting& x) {
      return x.tenant == whose
          || std::find(late.begin(), late.end(), x.request) != late.end();
    });
  }
  return dispatching::no_slots;
}

bool dispatcher::dispatch_under_way(std::span<const core::queue_id> served,
                                    worker& w, core::time_point now) {
  return matching_.any_under_way(served, w,
                                 [&](auto id) { return dispatch(id, w, now); });
}

bool dispatcher::dispatch(core::request_id id, worker& w,
                          core::time_point now) {
  auto& r = requests_.at(id);
  if (r.course.phase() == phase::denoising)
    if (const auto v = r.course.variant_on(w.host.hosting(), r.held.steps());
        !r.course.is_prepared_for(v)) {
      rows_.prepare_for(id, r, v, now);
      return true;
    }
  const core::ticket who{id, r.next_dispatch()};
  const auto waited_for = r.course.recipe().variant;
  auto order = maker_.make(who, r, w);
  if (!order)
    return false;
  dispatched x;
  x.worker = w.id();
  x.tenant = r.request->tenant;
  x.stage = r.course.stage();
  x.phase = r.course.phase();
  x.since = now;
  x.variant = r.course.recipe().variant;
  x.steps_before = x.steps_done = r.held.steps();
  x.alone = suspicions_.is_alone(id);
  if (r.course.phase() == phase::preparing)
    requests_.count_ahead(x.tenant, true);
  if (r.course.phase() == phase::denoising) {
    x.steps = core::steps_to_run(r.course.recipe());
    x.masked = r.course.masked_as_it_runs();
    x.steps_left = steps_left(r);
    queues_.charge(r.request->tenant, forecast_.least_on(rest_of(r), w.kind()),
                   now);
  }
  queueing_.leave_for_worker(id, r, waited_for, now);
  if (r.request->deadline != core::never && !r.course.known().best
      && r.due() != r.request->deadline)
    requests_.set_due(r, r.request->deadline);
  requests_.run(r);
  if (w.host.join() != planning::joining::step && !w.batch.filling()) {
    w.batch.fill();
    filling_.push_back(w.id());
  }
  if (x.alone) {
    suspicions_.begin(id);
    workers_.each_beside(w, [](worker& y) { y.trial.begin(); });
  }
  out_.hand_over(who, std::move(x), w, matching_.silence_of(r, w), now);
  out_.offer(w);
  records_.count(&counters::dispatched);
  if (auto* d = std::get_if<denoise>(&*order);
      d != nullptr && w.batch.filling())
    w.batch.join(std::move(*d));
  else
    out_.send(w, who, std::move(*order));
  return true;
}

void dispatcher::end_filling() {
  for (const auto id : std::exchange(filling_, {}))
    if (auto* there = workers_.find(id)) {
      auto& w = *there;
      auto rows = w.batch.end_filling();
      out_.offer(w);
      for (auto& x : rows) {
        x.more = &x != &rows.back();
        const auto who = x.ticket;
        out_.send(w, who, std::move(x));
      }
    }
}

// -- trials -------------------------------------------------------------------

void dispatcher::pump_alone(core::queue_id queue, core::time_point now) {
  const core::queue_id beside{queue.value
                              ^ alone_queue(core::queue_id{0}).value};
  const auto go_on = [this](worker& w) {
    if (w.trial.go_on())
      out_.offer(w);
  };
  if (queues_.empty(queue)) {
    const auto has_suspects = [this](const worker& w) {
      const auto& served = w.host.queues();
      return std::any_of(served.begin(), served.end(), [this](const auto x) {
        return !queues_.empty(alone_queue(x));
      });
    };
    for (auto& [id, w] : workers_.all())
      if (w.on_device() && !w.suspected() && w.host.takes_rows()
          && w.host.serves(beside) && !has_suspects(w))
        go_on(w);
    return;
  }
  const auto choice = matching_.device_for_trial(beside);
  for (const auto id : choice.delays)
    go_on(workers_.at(id));
  if (choice.busy)
    return;
  if (!choice.at) {
    if (!choice.delays.empty())
      return queues_.starve(queue, queues::lack::turn);
    placement_.end_unloadable(queue, now);
    return placement_.look_for_host(beside);
  }
  const auto next = matching_.next_suspect(queue, now);
  if (!begin_trial(next, requests_.at(next)))
    return;
  auto& chosen = workers_.at(*choice.at);
  chosen.trial.drain();
  out_.offer(chosen);
  if (chosen.seat.taken() != 0 || is_other_busy(chosen)
      || dispatch(next, chosen, now))
    return;
  // Rows between two legs, and before stages on the device, hold slots, and
  // free them only if they continue.
  if (!dispatch_under_way(chosen.host.queues(), chosen, now)) {
    records_.count(&counters::slot_waits);
    queues_.starve(queue);
    chosen.trial.lack_slots();
    out_.offer(chosen);
  }
}

void dispatcher::pump_pool_suspects(core::time_point now) {
  // Draining stops if no trial can begin: the work that waits for it frees
  // slots.
  const auto go_on = [this] {
    for (auto& [id, w] : workers_.all())
      if (!w.on_device() && w.trial.go_on())
        out_.offer(w);
  };
  constexpr auto queue = pool_suspects_queue;
  if (queues_.empty(queue))
    return go_on();
  const auto next = matching_.next_suspect(queue, now);
  auto& r = requests_.at(next);
  const auto choice = matching_.pool_for_trial(r);
  if (choice.busy)
    return;
  if (!choice.at)
    return go_on();
  // Finishing frees slots, preparing takes them.
  constexpr std::array others{finish_queue, prepare_queue};
  constexpr std::array at_device{device_stage_queue};
  const auto& there = workers_.at(*choice.at);
  const bool on_device = there.address.role == role::device_stage;
  const auto* const steps = workers_.beside(there);
  const auto first =
    on_device ? std::span<const core::queue_id>{at_device}
              : std::span<const core::queue_id>{
                others.data(), r.course.phase() == phase::finishing ? 1u : 2u};
  const bool delays =
    queues_.delays_again(first)
    || (steps != nullptr && queues_.delays_again(steps->host.queues()));
  if (delays || !matching_.has_room_for(r)) {
    queues_.starve(queue, delays ? queues::lack::turn : queues::lack::slots);
    return go_on();
  }
  if (!begin_trial(next, r))
    return go_on();
  auto& chosen = workers_.at(*choice.at);
  bool busy = false;
  workers_.each_beside(chosen, [&](worker& w) {
    w.trial.drain();
    out_.offer(w);
    busy = busy || w.seat.taken() != 0 || is_other_busy(w);
  });
  if (!busy && !dispatch(next, chosen, now)) {
    records_.count(&counters::slot_waits);
    queues_.starve(queue);
    go_on();
  }
}

bool dispatcher::is_other_busy(const worker& w) const {
  const auto* const other = workers_.beside(w);
  return other != nullptr && other->seat.taken() != 0;
}

bool dispatcher::begin_trial(core::request_id id, const row& r) {
  const auto may = suspicions_.ask_for_trial(id);
  if (may == suspicions::permission::wanted)
    ports_.clients->suspected(id, suspicions_.next_record(id, place_of(r)),
                              true);
  return may == suspicions::permission::granted;
}

} // namespace atelier::actors
