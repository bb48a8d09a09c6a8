// SPDX-License-Identifier: Apache-2.0

// From lanes to workers: who takes what, with which slots.

#include <atelier/actors/hub.hpp>
#include <atelier/actors/source_files.hpp>
#include <atelier/core/log.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

/// Slots that must stay free after a grant, by kind, so that what is further
/// along can always go on: preparing leaves a state for a device, a device
/// leaves an image for an encoder. A source is held while its row waits for a
/// device: preparing one leaves, when its files are gone, an image for the
/// device and one for the encoder.
constexpr std::array<uint32_t, ipc::slot_kinds> reserve_preparing{1, 0, 0};
constexpr std::array<uint32_t, ipc::slot_kinds> reserve_with_source{1, 2, 0};
constexpr std::array<uint32_t, ipc::slot_kinds> reserve_files{0, 1, 0};
constexpr std::array<uint32_t, ipc::slot_kinds> reserve_denoising{0, 1, 0};
constexpr std::array<uint32_t, ipc::slot_kinds> reserve_finishing{0, 0, 0};

constexpr ipc::process_life control_life{};

} // namespace

core::lane_id hub::lane_for(const row& r) const {
  switch (r.at) {
    case phase::preparing:
      return r.alone ? pool_suspects_lane : prepare_lane;
    case phase::finishing:
      return r.alone ? pool_suspects_lane : finish_lane;
    case phase::denoising:
      break;
  }
  core::philox random{config_.seed, core::purpose::routing, r.what->id};
  random.seek((uint64_t{r.attempt} + 1) << 16);
  const auto& next = r.under->routes[r.along.value].stages[r.stage];
  const auto lane = config_.policy->place_knowing(
    *r.what, next, r.known, *config_.profile, *plan_, cluster(), random);
  return r.alone ? alone_lane(lane) : lane;
}

planning::waiting hub::entry_for(core::request_id id, const row& r) const {
  planning::waiting x;
  x.request = id;
  x.prio = r.what->prio;
  x.since = r.waiting_since;
  x.deadline = r.what->deadline;
  x.still_needs = still_needs(r);
  x.may_answer_best = r.known.best.has_value();
  return x;
}

void hub::pump(core::time_point now) {
  while (!dirty_.empty()) {
    const auto lane = *dirty_.begin();
    dirty_.erase(dirty_.begin());
    pump_lane(lane, now);
  }
}

void hub::pump_lane(core::lane_id lane, core::time_point now) {
  if (lane == pool_suspects_lane)
    return pump_pool_suspects(now);
  const bool pool = lane == prepare_lane || lane == finish_lane;
  if (!pool && (lane.value & alone_lane(core::lane_id{0}).value) != 0)
    return pump_alone(lane, now);
  while (!lanes_.empty(lane)) {
    if (lane == prepare_lane
        && ahead_ >= std::max(4u, ahead_per_seat * device_seats_)) {
      starved_.insert(lane);
      return;
    }
    const auto candidates = open_.find(lane);
    if (candidates == open_.end() || candidates->second.empty()) {
      if (!pool) {
        look_for_host(lane);
        crowded_ = crowded_ || plan_->grouped;
      }
      return;
    }
    const bool grouped = plan_->grouped && !pool && !planning::worker_of(lane);
    auto* seat = grouped ? seat_in_group(lane, now) : &choose_worker(lane, now);
    if (seat == nullptr) {
      crowded_ = true;
      return;
    }
    auto& w = *seat;
    const core::lane_id group[] = {lane};
    const auto from = grouped && w.view.seats_taken > 0
                      ? std::span<const core::lane_id>{group}
                      : std::span<const core::lane_id>{w.serves};
    auto queue =
      lanes_.best(from, now, config_.pace.ageing, pool ? 1 : w.view.max_batch);
    // Where it would go now is known: so is how long it would take there.
    if (!pool && w.join == planning::joining::step)
      for (auto& x : queue)
        if (const auto& r = rows_.at(x.request);
            x.deadline != core::never && pace_.known(r.how.variant))
          x.still_needs = std::max(x.still_needs, completion_at(r, w));
    planning::taken chosen;
    if (pool) {
      chosen.join.push_back(queue.front().request);
    } else {
      // One at a time, so that a shared lane's rows spread over its workers.
      auto view = w.view;
      view.seats_free = 1;
      chosen = config_.policy->take(view, queue, *plan_, now);
      if (chosen.join.size() > 1)
        chosen.join.resize(1);
    }
    for (const auto id : chosen.late)
      if (const auto i = rows_.find(id); i != rows_.end())
        expire(id, i->second, now);
    if (chosen.join.empty() && chosen.late.empty())
      return;
    for (const auto id : chosen.join) {
      if (!dispatch(id, w, now)) {
        ++counts_.slot_waits;
        starved_.insert(lane);
        return;
      }
    }
  }
}

bool hub::grant(core::ticket who, const worker& w,
                std::initializer_list<ipc::slot_kind> kinds,
                std::array<uint32_t, ipc::slot_kinds> reserve,
                dispatched& into) {
  auto slots = keeper_.grant(who, w.where.where,
                             std::span(kinds.begin(), kinds.size()), reserve);
  if (!slots)
    return false;
  for (const auto& slot : *slots)
    ports_.slots->open(slot);
  into.granted = std::move(*slots);
  return true;
}

bool hub::grant_with_source(core::ticket who, const worker& w,
                            const core::source_images& files,
                            dispatched& into) {
  using ipc::slot_kind;
  if (!grant(who, w, {slot_kind::state, slot_kind::image}, reserve_with_source,
             into))
    return false;
  // The control process writes this slot, and is done with it at once.
  constexpr std::array kinds{slot_kind::image};
  const auto slots = keeper_.grant(who, control_life, kinds, reserve_files);
  ATELIER_EXPECTS(slots.has_value(), "the grant before left slots for this");
  into.reading = slots->front();
  auto& store = *ports_.slots;
  store.open(into.reading);
  const auto write = [&]() -> core::result<void> {
    if (store.capacity(slot_kind::image) == 0)
      return store.publish(into.reading, 1, 0);
    const auto buffer = store.buffer(into.reading);
    if (!buffer)
      return buffer.why();
    if (auto written = write_source_files(*buffer, files); !written)
      return written;
    return store.publish(into.reading, 1, source_files_bytes(files));
  };
  // The worker finds nothing there and says so; the door lets no such through.
  if (auto written = write(); !written)
    core::log_error("the source of request {}: {}", who.id.value,
                    core::to_string(written.why()));
  keeper_.begin_read(into.reading, who, w.where.where);
  keeper_.release(into.reading, who);
  return true;
}

bool hub::dispatch(core::request_id id, worker& w, core::time_point now) {
  using ipc::slot_kind;
  auto& r = rows_.at(id);
  const core::ticket who{id, r.attempt + 1};
  const auto waited_for = r.how.variant;
  dispatched x;
  x.worker = w.view.worker;
  x.at = r.at;
  x.since = now;
  x.variant = r.how.variant;
  x.steps_before = r.steps_done;
  x.steps_done = r.steps_done;
  x.alone = r.alone;
  work order;
  switch (r.at) {
    case phase::preparing: {
      const auto* files = r.what->source.get();
      const bool granted =
        files == nullptr
          ? grant(who, w, {slot_kind::state}, reserve_preparing, x)
          : grant_with_source(who, w, *files, x);
      if (!granted)
        return false;
      const auto& v = config_.profile->variants[r.how.variant.value];
      prepare p;
      p.who = who;
      p.how = r.how;
      p.text = r.what->text;
      p.latent = planning::latent_of(v, r.how.px);
      p.state = x.granted[0];
      if (files != nullptr) {
        p.files = x.reading;
        p.source = x.granted[1];
      }
      order = std::move(p);
      ++ahead_;
      break;
    }
    case phase::denoising: {
      if (!grant(who, w, {slot_kind::state, slot_kind::image},
                 reserve_denoising, x))
        return false;
      x.reading = r.newest;
      keeper_.begin_read(x.reading, who, w.where.where);
      x.source = r.source;
      keeper_.begin_read(x.source, who, w.where.where);
      // The worker may host another of the variants that the stage allows.
      const auto& next = r.under->routes[r.along.value].stages[r.stage];
      if (r.steps_done == 0) {
        for (const auto v : next.any_of)
          if (std::find(w.view.hosting.begin(), w.view.hosting.end(), v)
              != w.view.hosting.end()) {
            r.how = planning::recipe_of(*r.what, next, v, *config_.profile);
            break;
          }
        r.begin_at = begin_of(r, next, r.how.variant, w.view.level);
      }
      x.variant = r.how.variant;
      denoise d;
      d.who = who;
      d.how = r.how;
      d.text = r.what->text;
      d.from = r.newest;
      d.state = x.granted[0];
      d.image = x.granted[1];
      d.source = r.source;
      d.steps_done = r.steps_done;
      d.prio = r.what->prio;
      d.deadline_ns = r.what->deadline.time_since_epoch().count();
      d.wants_progress = r.what->wants_progress;
      d.preview_every = r.what->preview_every;
      d.begin_at = r.begin_at;
      if (next.check)
        d.judge = next.check->judge;
      order = std::move(d);
      x.steps = core::steps_to_run(r.how);
      x.begin_at = r.begin_at;
      x.masked = masked_as_it_runs(r);
      --ahead_;
      x.steps_left = steps_left(r);
      w.view.steps_left += x.steps_left;
      break;
    }
    case phase::finishing: {
      if (!grant(who, w, {slot_kind::image}, reserve_finishing, x))
        return false;
      x.reading = r.pixels;
      keeper_.begin_read(x.reading, who, w.where.where);
      const auto& v = config_.profile->variants[r.how.variant.value];
      order = finish{who,      r.how,        r.what->text,
                     v.model,  v.name,       r.what->output,
                     r.pixels, x.granted[0], r.notes};
      break;
    }
  }
  if (const auto lane = lanes_.where(id); lane && r.at == phase::denoising)
    count_waiting(waited_for, *lane, false);
  take_from_lane(id, r);
  r.took.queue += now - r.waiting_since;
  draw_wait(id, r, now);
  if (r.what->deadline != core::never && !r.known.best
      && r.due != r.what->deadline)
    set_due(id, r, r.what->deadline);
  r.state = row_state::running;
  r.attempt = who.attempt;
  withdraw(w);
  if (w.view.seats_taken == 0) {
    w.last_sign = now;
    w.allowance = {};
  }
  w.allowance = std::max(w.allowance, allowance_of(r, w));
  if (w.join != planning::joining::step && !w.filling) {
    w.filling = true;
    filling_.push_back(w.view.worker);
  }
  ++w.view.seats_taken;
  --w.view.seats_free;
  if (x.alone) {
    r.next_trial = trial::unasked;
    each_beside(w, [](worker& y) {
      y.exclusive = true;
      y.draining = false;
    });
  }
  offer(w);
  ++counts_.dispatched;
  w.has.push_back(who);
  out_.emplace(who, std::move(x));
  if (auto* d = std::get_if<denoise>(&order); d != nullptr && w.filling)
    w.joining.push_back(std::move(*d));
  else
    ports_.workers->send(w.where, std::move(order));
  return true;
}

core::timespan hub::allowance_of(const row& r, const worker& w) const {
  const auto& v = config_.profile->variants[r.how.variant.value];
  core::timespan predicted{0};
  switch (r.at) {
    case phase::preparing:
      predicted = planning::prepare_time(*config_.profile, *r.what);
      break;
    case phase::finishing:
      predicted = config_.profile->finish;
      break;
    case phase::denoising:
      predicted = steps_of_[r.how.variant.value].at(w.view.max_batch, r.how.px)
                  * w.run_steps
                + v.text + v.decode;
      break;
  }
  // A pool member works off its seats one after the other.
  if (r.at != phase::denoising)
    predicted *= w.seats;
  return core::from_seconds(core::to_seconds(predicted)
                            * config_.processes.step_factor)
       + config_.processes.silence;
}

void hub::count_waiting(core::variant_id variant, core::lane_id lane,
                        bool comes) {
  const size_t v = variant.value;
  if (counts_.waiting.size() <= v) {
    counts_.waiting.resize(config_.profile->variants.size(), 0);
    counts_.placed.resize(config_.profile->variants.size(), 0);
  }
  // Going is adding the largest value.
  const auto step = comes ? uint64_t{1} : ~uint64_t{0};
  counts_.waiting[v] += step;
  counts_.placed[v] += comes ? 1 : 0;
  const core::lane_id shared{lane.value & ~alone_lane(core::lane_id{0}).value};
  const auto of = planning::worker_of(shared);
  if (!of) {
    counts_.waiting_shared.resize(config_.profile->variants.size(), 0);
    counts_.waiting_shared.at(shared.value) += step;
  }
  const auto w = of ? workers_.find(*of) : workers_.end();
  if (w == workers_.end())
    return;
  w->second.view.waiting += step;
  view_changed(w->second);
}

void hub::withdraw(worker& w) {
  for (const auto lane : w.serves)
    if (const auto i = open_.find(lane); i != open_.end())
      i->second.erase({w.view.seats_taken, w.view.worker});
}

void hub::offer(worker& w) {
  view_changed(w);
  if (!takes_more(w))
    return;
  for (const auto lane : w.serves) {
    open_[lane].emplace(w.view.seats_taken, w.view.worker);
    if (!lanes_.empty(lane))
      dirty_.insert(lane);
  }
}

} // namespace atelier::actors
