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
#include <tuple>
#include <utility>

namespace atelier::actors {

namespace {

bool is_pool(role x) {
  return x != role::denoise_step;
}

} // namespace

core::request_id hub::next_suspect(core::lane_id lane,
                                   core::time_point now) const {
  const core::lane_id served[] = {lane};
  core::request_id next;
  // A suspect that must wait for slots may wait for those of another; finishing
  // a row frees the slots for which preparing waits.
  std::tuple<bool, bool, uint32_t> least;
  for (const auto& x : queues_.best(served, now, queues_.size(lane))) {
    const auto& r = requests_.at(x.request);
    const std::tuple rank{!has_room_for(r), r.course.phase() == phase::preparing,
                          suspicions_.strikes(x.request)};
    if (next == core::request_id{} || rank < least) {
      next = x.request;
      least = rank;
    }
  }
  return next;
}

queues::marks hub::marks_of(core::request_id id, const row& r) const {
  return {suspicions_.is_held_up(id), is_under_way(r)};
}

suspicions::place hub::place_of_work(const row& r) {
  return {r.course.phase(), r.course.leg(), r.held.steps()};
}

bool hub::has_room_for(const row& r) const {
  // `grant_for_stage` needs the same.
  const auto needs = needs_of(r);
  const bool waits = needs.takes != slot_counts{} || r.course.slots().reads_files;
  for (size_t kind = 0; waits && kind < needs.takes.size(); ++kind)
    if (slots_.free(static_cast<ipc::slot_kind>(kind))
        < needs.takes[kind] + needs.leaves[kind])
      return false;
  // Others are prepared first, up to that bound, only for those whom a trial
  // would delay again.
  return r.course.phase() != phase::preparing || r.course.leg() > 0
      || queues_.held_up().count(prepare_lane) == 0
      || !requests_.far_ahead(r.request->tenant, workers_.device_seats());
}

// -- trials -------------------------------------------------------------------

void hub::pump_alone(core::lane_id lane, core::time_point now) {
  const core::lane_id beside{lane.value ^ alone_lane(core::lane_id{0}).value};
  auto serves = [&](const worker& w) {
    return w.on_device() && !w.suspected() && w.host.takes_rows()
        && w.host.serves(beside);
  };
  if (queues_.empty(lane)) {
    for (auto& [id, w] : workers_.all())
      if (serves(w) && w.trial.go_on())
        offer(w);
    return;
  }
  worker* chosen = nullptr;
  bool waits = false;
  for (auto& [id, w] : workers_.all()) {
    if (!serves(w))
      continue;
    if (w.trial.exclusive())
      return;
    if (queues_.delays_again(w.host.lanes())) {
      waits = true;
      if (w.trial.go_on())
        offer(w);
    } else if (chosen == nullptr || (w.trial.draining() && !chosen->trial.draining())
               || (w.trial.draining() == chosen->trial.draining()
                   && w.seat.taken() < chosen->seat.taken())) {
      chosen = &w;
    }
  }
  if (chosen == nullptr) {
    if (waits)
      return queues_.starve(lane);
    end_unloadable(lane, now);
    return look_for_host(beside);
  }
  const auto next = next_suspect(lane, now);
  if (!may_try(next, requests_.at(next)))
    return;
  chosen->trial.drain();
  offer(*chosen);
  // Rows between two legs hold slots, and free them only if they continue.
  if (chosen->seat.taken() == 0 && !dispatch(next, *chosen, now)
      && !dispatch_under_way(chosen->host.lanes(), *chosen, now)) {
    records_.slot_wait();
    queues_.starve(lane);
  }
}

void hub::pump_pool_suspects(core::time_point now) {
  // Draining stops if no trial can begin: the work that waits for it frees
  // slots.
  const auto go_on = [this] {
    for (auto& [id, w] : workers_.all())
      if (is_pool(w.address.role) && w.trial.go_on())
        offer(w);
  };
  constexpr auto lane = pool_suspects_lane;
  if (queues_.empty(lane))
    return go_on();
  const auto next = next_suspect(lane, now);
  auto& r = requests_.at(next);
  const auto wanted = path_.worker_of(r.course.stage());
  worker* chosen = nullptr;
  for (auto& [id, w] : workers_.all()) {
    if (w.address.role != wanted || w.suspected())
      continue;
    if (w.trial.exclusive())
      return;
    if (chosen == nullptr || (w.trial.draining() && !chosen->trial.draining()))
      chosen = &w;
  }
  if (chosen == nullptr)
    return go_on();
  // Finishing frees slots, preparing takes them.
  constexpr std::array others{finish_lane, prepare_lane};
  const std::span first{others.data(), r.course.phase() == phase::finishing ? 1u : 2u};
  if (queues_.delays_again(first) || !has_room_for(r)) {
    queues_.starve(lane);
    return go_on();
  }
  if (!may_try(next, r))
    return go_on();
  bool busy = false;
  workers_.each_beside(*chosen, [&](worker& w) {
    w.trial.drain();
    offer(w);
    busy = busy || w.seat.taken() != 0;
  });
  if (!busy && !dispatch(next, *chosen, now)) {
    records_.slot_wait();
    queues_.starve(lane);
    go_on();
  }
}

bool hub::may_try(core::request_id id, row& r) {
  const auto may = suspicions_.may_try(id);
  if (may == suspicions::permission::wanted)
    ports_.clients->suspected(
      id, suspicions_.next_record(id, place_of_work(r)), true);
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
  if (const auto record = suspicions_.leave(id, place_of_work(r)))
    ports_.clients->suspected(id, *record, false);
  r.course.enter(stage, path_.phase_of(stage));
  // Recall runs in the scheduler's process, so it could not have ended another
  // one.
  suspicions_.enter(id, place_of_work(r),
                    path_.worker_of(stage) != role::recall);
  wait(id, r, now, queues::end::back);
  if (suspicions_.is_poison(id))
    end_row(id, r, row_state::failed,
            suspicions_.poison_of(id, place_of_work(r),
                                  "before the server was started again"),
            now);
}

// -- deaths -------------------------------------------------------------------

std::set<core::ticket> hub::worked_on(const std::set<core::worker_id>& gone,
                                      death cause) const {
  std::set<core::ticket> out;
  if (!may_be_of_a_request(cause))
    return out;
  const auto any = [&](bool (signs_of_life::*is)() const) {
    return cause == death::watchdog
        && std::any_of(gone.begin(), gone.end(),
                       [&](auto id) { return (workers_.at(id).signs.*is)(); });
  };
  // If one of the workers was silent, the others do not matter. If one only
  // lost orders, no request is to blame.
  const bool named = any(&signs_of_life::told);
  if (!named && any(&signs_of_life::loses_orders))
    return out;
  for (const auto id : gone) {
    const auto& w = workers_.at(id);
    if (named && !w.signs.told())
      continue;
    // A pool's worker processes its orders one after the other, in order.
    if (is_pool(w.address.role)) {
      if (!w.seat.orders().empty())
        out.insert(w.seat.orders().front());
      continue;
    }
    if (hosting::blames_load(w, cause))
      continue;
    for (const auto who : w.seat.orders())
      if (orders_.at(who).stepping)
        out.insert(who);
  }
  return out;
}

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
