// SPDX-License-Identifier: Apache-2.0

// From queues to workers: which worker takes which row, with which slots.

#include <atelier/actors/hub.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace atelier::actors {

namespace {

constexpr auto image_kind = static_cast<size_t>(ipc::slot_kind::image);

} // namespace

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
        if (rules_.plan()->grouped)
          hosting_.crowded();
      }
      return;
    }
    const bool grouped =
      rules_.plan()->grouped && !pool && !planning::worker_of(lane);
    const auto seat = grouped ? matching_.seat_in_group(lane, now)
                              : matching_.choose_worker(lane, now, passed);
    if (!seat) {
      if (grouped)
        hosting_.crowded();
      else
        // Other rows of the workers may free a seat for those left out.
        queues_.starve(lane, queues::lack::seat);
      return;
    }
    auto& w = workers_.at(*seat);
    const auto group = grouped && w.seat.taken() > 0
                       ? matching_.lanes_beside(lane, w)
                       : std::vector<core::lane_id>{};
    const auto from =
      std::span<const core::lane_id>{group.empty() ? w.host.lanes() : group};
    const auto leave = matching_.closed_to(w, lane);
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
  auto queue = matching_.next_rows(from, w, without, now);
  if (queue.empty())
    return matching::is_bounded(w) ? dispatching::no_slots
                                   : dispatching::nobody;
  return dispatch_one(std::move(queue), w, now);
}

hub::dispatching hub::dispatch_one(std::vector<planning::waiting> queue,
                                   worker& w, core::time_point now) {
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
          expire(x, *r, now);
      if (chosen.join.empty())
        return late.empty() ? dispatching::nobody : dispatching::went;
      id = chosen.join.front();
    }
    if (dispatch(id, w, now))
      return dispatching::went;
    records_.slot_wait();
    const auto& r = requests_.at(id);
    if (const auto& needs = r.course.slots();
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

bool hub::dispatch_under_way(std::span<const core::lane_id> lanes, worker& w,
                             core::time_point now) {
  return matching_.any_under_way(lanes, w,
                                 [&](auto id) { return dispatch(id, w, now); });
}

void hub::settle_start(core::ticket who, row& r, const worker& w) {
  const auto has = r.held.steps();
  const bool source = static_cast<bool>(r.held[planning::held::source]);
  if (has <= r.course.saved()) {
    r.course.run_by(r.course.variant_on(w.host.hosting(), has), source);
    const auto skip =
      r.course.saved_by(r.course.recipe().variant, w.host.level(), source);
    // The row keeps the steps that it already has, for example after a death.
    r.course.starts_with(has);
    const auto* from = r.course.match();
    if (skip != 0 && skip != has && ports_.found && from != nullptr
        && slots_.fill_state(r.held, who, skip, [&](const auto& slot) {
             return ports_.found->give_state(from->entry, skip, slot);
           }))
      r.course.starts_with(skip);
  }
  if (r.course.leg() != 0)
    return;
  const auto saved = r.course.saved();
  if (saved > 0 && r.course.route().legs.front().level_of_worker
      && r.account.counts_hit())
    records_.hit(saved);
  note_reuse(r);
}

std::optional<work> hub::order_of_stage(core::ticket who, const row& r,
                                        const worker& w) {
  using planning::held;
  const auto& stage = path_.at(r.course.stage());
  const auto uses = stage.row().slots;
  const bool brings = r.request->source != nullptr;
  const auto* const leg = r.course.running_leg();
  std::array<held, planning::held_names> names{};
  size_t granted = 0;
  for (const auto& x : uses)
    if (x.mode != planning::access::reads && x.name != held::capture
        && x.applies(leg, brings))
      names[granted++] = x.name;
  const auto wanted = std::span(names).first(granted);
  const auto life = w.address.process;
  const auto left = shares_.needs_of(r).leaves;
  const auto* const given =
    r.course.slots().reads_files
      ? slots_.grant_with_files(who, life, wanted, *r.request->source, left)
      : slots_.grant(who, life, wanted, left);
  if (given == nullptr)
    return std::nullopt;
  for (const auto& x : uses)
    if (x.mode != planning::access::writes && x.applies(leg, brings))
      if (const auto slot = r.held[x.name])
        slots_.read(who, life, x.name, slot);
  std::optional<work> made{std::in_place, std::in_place_type<run_stage>};
  auto& order = std::get<run_stage>(*made);
  order.ticket = who;
  order.stage = static_cast<uint16_t>(r.course.stage());
  order.reads = given->reading;
  order.writes = given->granted;
  order.is_short = stage.is_short(r.course.order());
  order.order = r.course.order();
  return made;
}

std::optional<work> hub::order_to_denoise(core::ticket who, row& r,
                                          const worker& w) {
  using planning::held;
  const auto* given = slots_.grant(
    who, w.address.process, {held::state, held::pixels}, shares_.left_at(w, r));
  if (given == nullptr)
    return std::nullopt;
  slots_.drawing_begins();
  settle_start(who, r, w);
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
    if (steps > r.held.steps()
        && steps <= core::steps_to_run(r.course.recipe()))
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
  auto order = r.course.phase() == phase::denoising
               ? order_to_denoise(who, r, w)
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
    queues_.charge(r.request->tenant, forecast_.least_on(rest_of(r), w.kind()),
                   now);
    if (const auto lane = queues_.where(id))
      count_waiting(waited_for, *lane, false);
  }
  queues_.remove(id);
  r.account.waited(now - r.waiting_since());
  records_.waited(id, x.phase, r.waiting_since(), now);
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
  hand_over(who, std::move(x), w, matching_.silence_of(r, w), now);
  offer(w);
  records_.dispatched();
  if (auto* d = std::get_if<denoise>(&*order);
      d != nullptr && w.batch.filling())
    w.batch.join(std::move(*d));
  else
    send(w, who, std::move(*order));
  return true;
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
