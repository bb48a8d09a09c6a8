// SPDX-License-Identifier: Apache-2.0

// From queues to workers: which worker takes which row, with which slots.

#include <atelier/actors/hub.hpp>
#include <atelier/planning/demand/request_work.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

core::lane_id hub::lane_for(const row& r) const {
  const bool alone = suspicions_.is_alone(r.request->id);
  switch (path_.worker_of(r.course.stage())) {
    case role::preprocess:
      return alone ? pool_suspects_lane : prepare_lane;
    case role::postprocess:
      return alone ? pool_suspects_lane : finish_lane;
    case role::recall:
      // It runs in the control process, which no request's work can end alone.
      return recall_lane;
    case role::classifier:
    case role::denoise_step:
      break;
  }
  if (r.course.is_bound()) {
    const auto lane = planning::lane_of(r.course.recipe().variant);
    return alone ? alone_lane(lane) : lane;
  }
  core::philox random{config_.seed, core::purpose::routing, r.request->id};
  random.seek((uint64_t{r.moves()} + 1) << 16);
  const auto& next = *r.course.running_leg();
  const auto lane =
    config_.policy->place(next, {*r.request, r.course.known(), *forecast_.profile(),
                                 *plan_, cluster(), random});
  return alone ? alone_lane(lane) : lane;
}

planning::waiting hub::entry_for(core::request_id id, const row& r) const {
  planning::waiting x;
  x.request = id;
  x.tenant = r.request->tenant;
  x.share = r.request->share;
  x.prio = r.request->prio;
  x.since = r.waiting_since();
  x.deadline = r.request->deadline;
  x.still_needs = forecast_.least(rest_of(r));
  x.may_answer_best = r.course.known().best.has_value();
  return x;
}

void hub::pump(core::time_point now) {
  while (const auto lane = queues_.next())
    pump_lane(*lane, now);
}

void hub::pump_lane(core::lane_id lane, core::time_point now) {
  if (lane == pool_suspects_lane)
    return pump_pool_suspects(now);
  const bool pool = is_pool(lane);
  if (!pool && (lane.value & alone_lane(core::lane_id{0}).value) != 0)
    return pump_alone(lane, now);
  // Workers with seats that are left for others than those who wait.
  std::vector<core::worker_id> passed;
  while (!queues_.empty(lane)) {
    if (queues_.offered(lane).empty()) {
      if (!pool) {
        if (end_unloadable(lane, now))
          continue;
        look_for_host(lane);
        if (plan_->grouped)
          hosting_.crowded();
      }
      return;
    }
    const bool grouped = plan_->grouped && !pool && !planning::worker_of(lane);
    auto* seat =
      grouped ? seat_in_group(lane, now) : choose_worker(lane, now, passed);
    if (seat == nullptr) {
      if (grouped)
        hosting_.crowded();
      else
        // Other rows of the workers may free a seat for those left out.
        queues_.starve(lane, queues::lack::seat);
      return;
    }
    auto& w = *seat;
    const auto group = grouped && w.seat.taken() > 0
                       ? lanes_beside(lane, w)
                       : std::vector<core::lane_id>{};
    const auto from =
      std::span<const core::lane_id>{group.empty() ? w.host.lanes() : group};
    std::vector<core::tenant_id> leave;
    if (!pool)
      leave = leave_seats(w, workers_, orders_, requests_.tenants());
    else if (lane == prepare_lane)
      leave = requests_.far_ahead(workers_.device_seats());
    auto did = dispatch_first(from, w, leave, now);
    if (did == dispatching::no_slots)
      did = dispatch_hidden(from, w, leave, now);
    switch (did) {
      case dispatching::went:
        break;
      case dispatching::nobody:
        if (!leave.empty() && !grouped && !pool) {
          passed.push_back(w.id());
          break;
        }
        if (!leave.empty() || !passed.empty())
          queues_.starve(lane, queues::lack::seat);
        return;
      case dispatching::no_slots: {
        const auto lanes = pool ? std::vector{lane} : w.host.lanes();
        if (dispatch_under_way(lanes, w, now))
          break;
        queues_.starve(lane);
        // A trial waits for delayed requests only while they can continue.
        if (queues_.held_up().count(lane) != 0)
          for (const auto served : lanes)
            queues_.touch_waiting(pool ? pool_suspects_lane
                                       : alone_lane(served));
        return;
      }
    }
  }
}

hub::dispatching hub::dispatch_first(std::span<const core::lane_id> from,
                                     worker& w,
                                     std::span<const core::tenant_id> without,
                                     core::time_point now) {
  const bool pool = w.address.role != role::denoise_step;
  const bool counted =
    w.address.role == role::preprocess || w.address.role == role::recall;
  // Among the first few, one may belong to a tenant for which slots are left,
  // or need fewer slots than a source for which too few are free.
  const bool shared =
    requests_.named_ahead() || slots_.waiting_for_images().has_value();
  const size_t most = !pool ? w.max_batch() : shared ? looked_at : 1;
  auto queue = queues_.best(from, now, most, without);
  std::erase_if(queue, [&](const planning::waiting& x) {
    if (counted && requests_.at(x.request).course.phase() == phase::preparing)
      return requests_.far_ahead(x.tenant, workers_.device_seats());
    return !pool && waits_for_quicker(x, w, now);
  });
  if (queue.empty())
    return counted ? dispatching::no_slots : dispatching::nobody;
  // The worker is known now, and so is how long the work would take there.
  if (!pool && w.host.join() == planning::joining::step)
    for (auto& x : queue)
      if (const auto& r = requests_.at(x.request);
          x.deadline != core::never && forecast_.knows_pace(r.course.recipe().variant))
        x.still_needs =
          std::max(x.still_needs, forecast_.at(rest_of(r), w.view()));
  return dispatch_one(std::move(queue), w, pool, now);
}

hub::dispatching hub::dispatch_hidden(std::span<const core::lane_id> from,
                                      worker& w,
                                      std::vector<core::tenant_id> without,
                                      core::time_point now) {
  const auto shut = without.size();
  const auto with_some = w.address.role == role::denoise_step
                         ? tenants_at(w, orders_)
                         : requests_.with_ahead();
  without.insert(without.end(), with_some.begin(), with_some.end());
  std::sort(without.begin(), without.end());
  without.erase(std::unique(without.begin(), without.end()), without.end());
  if (without.size() == shut
      || dispatch_first(from, w, without, now) != dispatching::went)
    return dispatching::no_slots;
  return dispatching::went;
}

hub::dispatching hub::dispatch_one(std::vector<planning::waiting> queue,
                                   worker& w, bool pool, core::time_point now) {
  while (!queue.empty()) {
    auto id = queue.front().request;
    std::vector<core::request_id> late;
    if (!pool) {
      // One at a time, so that a shared queue's rows spread over its workers.
      auto chosen =
        config_.policy->take(w.view_of_one_seat(), queue, *plan_, now);
      late = std::move(chosen.late);
      for (const auto x : late)
        if (auto* r = requests_.find(x))
          expire(x, *r, now);
      if (chosen.join.empty())
        return late.empty() ? dispatching::nobody : dispatching::went;
      id = chosen.join.front();
    }
    if (dispatch(id, w, now))
      return dispatching::went;
    note_slot_wait(id);
    // Slots are left for a tenant that has none.
    const auto whose = requests_.at(id).request->tenant;
    std::erase_if(queue, [&](const planning::waiting& x) {
      return x.tenant == whose
          || std::find(late.begin(), late.end(), x.request) != late.end();
    });
  }
  return dispatching::no_slots;
}

bool hub::dispatch_under_way(const std::vector<core::lane_id>& lanes, worker& w,
                             core::time_point now) {
  const auto& counts = queues_.under_way();
  if (std::none_of(lanes.begin(), lanes.end(),
                   [&](auto lane) { return counts.count(lane) != 0; }))
    return false;
  bool in_turn = false;
  orders_.each([&](core::ticket, const dispatched& x) {
    in_turn = in_turn || (w.on_device() && !x.side);
  });
  for (const auto lane : lanes)
    if (counts.count(lane) != 0)
      for (const auto id : queues_.of(lane)) {
        const auto& r = requests_.at(id);
        if ((in_turn ? r.course.leg() > 0 : is_under_way(r)) && dispatch(id, w, now))
          return true;
      }
  return false;
}

void hub::settle_start(core::ticket who, row& r, const worker& w) {
  const auto has = r.held.steps();
  if (has > r.course.saved())
    return;
  const bool source = static_cast<bool>(r.held[planning::held::source]);
  r.course.run_by(r.course.variant_on(w.host.hosting(), has), source);
  start_from_earlier(
    who, r, r.course.saved_by(r.course.recipe().variant, w.host.level(), source));
}

std::optional<work> hub::order_of_stage(core::ticket who, const row& r,
                                        const worker& w) {
  const auto* held = grant_for_stage(who, r, w);
  if (held == nullptr)
    return std::nullopt;
  std::optional<work> made{std::in_place, std::in_place_type<run_stage>};
  auto& x = std::get<run_stage>(*made);
  x.ticket = who;
  x.stage = static_cast<uint16_t>(r.course.stage());
  x.slots = held->told();
  x.is_short = path_.at(r.course.stage()).is_short(r.course.order());
  x.order = r.course.order();
  return made;
}

std::optional<work> hub::order_to_denoise(core::ticket who, row& r,
                                          const worker& w) {
  using planning::held;
  const auto* given = slots_.grant(
    who, w.address.process, {held::state, held::pixels},
    sum(sum(r.course.slots().reserve,
            left_for_others(r, [&] { return tenants_at(w, orders_); })),
        left_for_waiting(r)));
  if (given == nullptr)
    return std::nullopt;
  slots_.drawing_begins();
  settle_start(who, r, w);
  if (r.course.leg() == 0) {
    count_level(r);
    note_reuse(r);
  }
  const auto source = r.held[held::source];
  slots_.read(who, w.address.process, held::state, r.held[held::state]);
  if (source)
    slots_.read(who, w.address.process, held::source, source);
  const auto& next = *r.course.running_leg();
  std::optional<work> made{std::in_place, std::in_place_type<denoise>};
  auto& d = std::get<denoise>(*made);
  d.ticket = who;
  d.recipe = r.course.recipe();
  d.text = r.request->text;
  d.from = r.held[held::state];
  d.state = given->granted[held::state];
  d.image = given->granted[held::pixels];
  d.source = source;
  d.steps_done = r.held.steps();
  d.prio = r.request->prio;
  d.deadline_ns = r.request->deadline.time_since_epoch().count();
  d.tenant = r.request->tenant;
  d.share = r.request->share;
  d.wants_progress = r.request->wants_progress;
  d.preview_every = r.request->preview_every;
  if (next.check)
    d.judge = next.check->judge;
  d.captures = order_captures(who, r, w);
  return made;
}

std::vector<gpu::state_capture> hub::order_captures(core::ticket who, row& r,
                                                    const worker& w) {
  const auto& along = r.course.route();
  const auto& next = *r.course.running_leg();
  // Captures are not needed without a route and a stage that keep them.
  if (next.capture.empty() || !along.store.latents
      || !core::writes(r.request->cache)
      || !path_.is(path_.first(planning::hook::after_answer),
                   planning::hook::after_answer))
    return {};
  std::vector<uint32_t> wanted;
  for (const auto steps : next.capture)
    if (steps > r.held.steps() && steps <= core::steps_to_run(r.course.recipe()))
      wanted.push_back(steps);
  return slots_.grant_captures(r.held, who, w.address.process, wanted);
}

bool hub::dispatch(core::request_id id, worker& w, core::time_point now) {
  auto& r = requests_.at(id);
  if (r.course.phase() == phase::denoising)
    if (const auto v = r.course.variant_on(w.host.hosting(), r.held.steps());
        !r.course.is_prepared_for(v)) {
      prepare_for(id, r, v, now);
      return true;
    }
  const core::ticket who{id, r.next_dispatch()};
  const auto waited_for = r.course.recipe().variant;
  auto order = r.course.phase() == phase::denoising ? order_to_denoise(who, r, w)
                                           : order_of_stage(who, r, w);
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
    discount_ahead(x.tenant);
    x.steps_left = steps_left(r);
    queues_.charge(r.request->tenant,
                   forecast_.least_on(rest_of(r), w.kind()), now);
    if (const auto lane = queues_.where(id))
      count_waiting(waited_for, *lane, false);
  }
  leave_for_worker(id, r, now);
  take_seat(r, std::move(x), w, now);
  records_.dispatched();
  if (auto* d = std::get_if<denoise>(&*order);
      d != nullptr && w.batch.filling())
    w.batch.join(std::move(*d));
  else
    send(w, who, std::move(*order));
  return true;
}

void hub::leave_for_worker(core::request_id id, row& r, core::time_point now) {
  queues_.remove(id);
  r.account.waited(now - r.waiting_since());
  records_.waited(id, r.course.phase(), r.waiting_since(), now);
  if (r.request->deadline != core::never && !r.course.known().best
      && r.due() != r.request->deadline)
    requests_.set_due(r, r.request->deadline);
  requests_.run(r);
}

void hub::take_seat(row& r, dispatched x, worker& w, core::time_point now) {
  if (w.host.join() != planning::joining::step && !w.batch.filling()) {
    w.batch.fill();
    filling_.push_back(w.id());
  }
  const bool alone = x.alone;
  hand_over({r.request->id, r.attempt()}, std::move(x), w, silence_of(r, w), now);
  if (alone) {
    suspicions_.begin(r.request->id);
    workers_.each_beside(w, [](worker& y) { y.trial.begin(); });
  }
  offer(w);
}

void hub::count_own_work(const core::request& wanted) {
  if (!planning::has_own_work(wanted))
    return;
  for (uint32_t v = 0; v < config_.profile->variants.size(); ++v)
    records_.extra_work(core::variant_id{v},
                        forecast_.extra_work(core::variant_id{v}, wanted),
                        forecast_.extra_pixels(core::variant_id{v}, wanted));
}

void hub::count_waiting(core::variant_id variant, core::lane_id lane,
                        bool comes) {
  records_.waits(variant, comes);
  const core::lane_id shared{lane.value & ~alone_lane(core::lane_id{0}).value};
  const auto of = planning::worker_of(shared);
  if (!of)
    records_.waits_shared(core::variant_id{shared.value}, comes);
  else
    workers_.count_waiting(*of, comes);
}

void hub::offer(worker& w) {
  workers_.view_changed(w);
  const auto id = w.id();
  if (!w.takes_more())
    return queues_.offer(id, w.seat.taken(), {});
  if (!w.slow())
    return queues_.offer(id, w.seat.taken(), w.host.lanes());
  auto lanes = w.host.lanes();
  std::erase_if(lanes, [&](auto lane) { return workers_.others_serve(lane); });
  queues_.offer(id, w.seat.taken(), lanes);
}

} // namespace atelier::actors
