// SPDX-License-Identifier: Apache-2.0

// Rows whose worker's process died while it worked on them. Each is tried
// alone, so that a second death proves that it was to blame:
//
//   suspect --two deaths alone, nothing gained--> poison
//   suspect --its phase ends--> like any other row
//
// A death alone delays the requests that wait for the same worker. So no trial
// starts while a request waits there that was already delayed by a death that
// another request caused: each request is delayed at most once.

#include <atelier/actors/hub.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace atelier::actors {

// -- trials -------------------------------------------------------------------

void hub::pump_alone(core::lane_id lane, core::time_point now) {
  const core::lane_id beside{lane.value ^ alone_lane(core::lane_id{0}).value};
  const auto go_on = [this](worker& w) {
    if (w.trial.go_on())
      offer(w);
  };
  if (queues_.empty(lane)) {
    for (auto& [id, w] : workers_.all())
      if (w.on_device() && !w.suspected() && w.host.takes_rows()
          && w.host.serves(beside))
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
      return queues_.starve(lane);
    end_unloadable(lane, now);
    return look_for_host(beside);
  }
  const auto next = matching_.next_suspect(lane, now);
  if (!may_try(next, requests_.at(next)))
    return;
  auto& chosen = workers_.at(*choice.at);
  chosen.trial.drain();
  offer(chosen);
  // Rows between two legs hold slots, and free them only if they continue.
  if (chosen.seat.taken() == 0 && !dispatch(next, chosen, now)
      && !dispatch_under_way(chosen.host.lanes(), chosen, now)) {
    records_.slot_wait();
    queues_.starve(lane);
  }
}

void hub::pump_pool_suspects(core::time_point now) {
  // Draining stops if no trial can begin: the work that waits for it frees
  // slots.
  const auto go_on = [this] {
    for (auto& [id, w] : workers_.all())
      if (!w.on_device() && w.trial.go_on())
        offer(w);
  };
  constexpr auto lane = pool_suspects_lane;
  if (queues_.empty(lane))
    return go_on();
  const auto next = matching_.next_suspect(lane, now);
  auto& r = requests_.at(next);
  const auto choice = matching_.pool_for_trial(r);
  if (choice.busy)
    return;
  if (!choice.at)
    return go_on();
  // Finishing frees slots, preparing takes them.
  constexpr std::array others{finish_lane, prepare_lane};
  const std::span first{others.data(),
                        r.course.phase() == phase::finishing ? 1u : 2u};
  if (queues_.delays_again(first) || !matching_.has_room_for(r)) {
    queues_.starve(lane);
    return go_on();
  }
  if (!may_try(next, r))
    return go_on();
  auto& chosen = workers_.at(*choice.at);
  bool busy = false;
  workers_.each_beside(chosen, [&](worker& w) {
    w.trial.drain();
    offer(w);
    busy = busy || w.seat.taken() != 0;
  });
  if (!busy && !dispatch(next, chosen, now)) {
    records_.slot_wait();
    queues_.starve(lane);
    go_on();
  }
}

bool hub::may_try(core::request_id id, row& r) {
  const auto may = suspicions_.may_try(id);
  if (may == suspicions::permission::wanted)
    ports_.clients->suspected(id, suspicions_.next_record(id, place_of(r)),
                              true);
  return may == suspicions::permission::granted;
}

void hub::trial_noted(core::request_id id, core::time_point now) {
  if (!suspicions_.recorded(id))
    return;
  if (const auto lane = queues_.where(id))
    queues_.touch(*lane);
  settle(now);
}

// -- suspicions against a row -------------------------------------------------

void hub::enter(core::request_id id, row& r, size_t stage,
                core::time_point now) {
  if (const auto record = suspicions_.leave(id, place_of(r)))
    ports_.clients->suspected(id, *record, false);
  r.course.enter(stage, path_.phase_of(stage));
  // Recall runs in the scheduler's process, so it could not have ended another
  // one.
  suspicions_.enter(id, place_of(r), path_.worker_of(stage) != role::recall);
  wait(id, r, now, queues::end::back);
  if (suspicions_.is_poison(id))
    end_row(id, r, row_state::failed,
            suspicions_.poison_of(id, place_of(r),
                                  "before the server was started again"),
            now);
}

// -- deaths -------------------------------------------------------------------

void hub::note_delayed(const std::set<core::lane_id>& served) {
  for (const auto lane : served) {
    if (workers_.anyone_serves(lane))
      continue;
    for (const auto id : queues_.of(lane))
      if (suspicions_.delay(id))
        queues_.hold_up(id);
  }
}

} // namespace atelier::actors
