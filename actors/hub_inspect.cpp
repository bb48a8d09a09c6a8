// SPDX-License-Identifier: Apache-2.0

// Views of the tables: for policies, for human readers, and for tests.

#include <atelier/actors/hub.hpp>

#include <algorithm>
#include <map>

namespace atelier::actors {

const planning::cluster_view& hub::cluster() const {
  if (workers_.look([this](const worker& w, planning::worker_view& out) {
        view_into(out, w);
      }))
    forecast_.see(workers_.seen());
  return workers_.seen();
}

void hub::view_into(planning::worker_view& out, const worker& w) const {
  out = w.view();
  for (const auto who : w.seat.orders()) {
    const auto v = orders_.at(who).variant;
    const auto at = std::lower_bound(out.running.begin(), out.running.end(), v);
    if (at == out.running.end() || *at != v)
      out.running.insert(at, v);
  }
  if (!tells_rows_)
    return;
  for (const auto who : w.seat.orders()) {
    const auto& x = orders_.at(who);
    out.rows.push_back(
      {x.masked, x.steps - std::min(x.steps, x.steps_done), true});
  }
  const auto own = planning::lane_of(w.id());
  for (const auto lane : {own, alone_lane(own)})
    for (const auto id : queues_.of(lane)) {
      const auto& r = requests_.at(id);
      out.rows.push_back({r.course.masked_as_it_runs(), steps_left(r), false});
    }
}

const counters& hub::counts() const {
  return records_.counts();
}

const ipc::keeper& hub::slots() const {
  return slots_.keeper();
}

size_t hub::rows() const {
  return requests_.all().size();
}

recovery_counts hub::recovery(core::time_point now) const {
  return records_.recovery(now);
}

scheduler_status hub::status() const {
  scheduler_status s;
  s.counts = records_.counts();
  s.waiting = static_cast<uint32_t>(queues_.size());
  s.running = static_cast<uint32_t>(requests_.open() - queues_.size());
  s.plan = plan_;
  s.profile = forecast_.profile();
  s.slots = slots_.all();
  s.slots_in_use = slots_.in_use();
  for (const auto& [id, w] : workers_.all()) {
    if (w.address.role != role::denoise_step) {
      ++s.pool_workers[w.address.role];
      continue;
    }
    worker_line line;
    line.device = w.device;
    for (const auto v : w.host.hosting())
      line.variants.push_back(config_.profile->variants[v.value].name);
    line.seats_taken = w.seat.taken();
    line.seats = w.seat.all();
    line.max_batch = w.max_batch();
    line.loading = !w.host.takes_rows();
    line.slow = w.slow();
    line.failed = hosting_.failures_at(w);
    s.workers.push_back(std::move(line));
  }
  return s;
}

std::optional<size_t> hub::stage_of(core::request_id id) const {
  const auto* r = requests_.find(id);
  if (r == nullptr || r->state() == row_state::asking)
    return std::nullopt;
  return r->course.stage();
}

std::string hub::check() const {
  const auto& counts = records_.counts();
  if (counts.arrived
      != counts.refused + counts.answered + counts.failed + counts.cancelled
           + requests_.open())
    return "requests are not conserved";
  for (const auto& broken : {requests_.check(), slots_.check(), queues_.check(),
                             questions_.check(), workers_.check(), check_rows(),
                             check_queues(), check_views(), check_seats(),
                             check_alone()})
    if (!broken.empty())
      return broken;
  return {};
}

std::string hub::check_rows() const {
  size_t waits = 0;
  core::timespan predicted{0};
  for (const auto& [id, r] : requests_.all()) {
    predicted += forecast_.work_of(id);
    if (r.state() == row_state::waiting) {
      ++waits;
      if (!queues_.contains(id))
        return fmt::format("row {} waits but is in no queue", id.value);
    } else if (queues_.contains(id)) {
      return fmt::format("row {} does not wait but is in a queue", id.value);
    }
    if ((r.state() == row_state::asking) != questions_.is_open(id))
      return fmt::format("row {} asks for nothing, or does not wait for it",
                         id.value);
    if (r.state() == row_state::running
        && orders_.find({id, r.attempt()}) == nullptr)
      return fmt::format("row {} runs on no worker", id.value);
    const bool has_source = r.course.recipe().from_image && !is_terminal(r.state())
                         && !r.course.answering()
                         && (r.course.phase() == phase::denoising
                             || (r.course.phase() == phase::preparing
                                 && (r.held[planning::held::state]
                                     || r.course.starts_from_found())));
    const auto source = r.held[planning::held::source];
    if (has_source != static_cast<bool>(source)
        || (has_source && !slots_.holds(source)))
      return fmt::format("row {} lost its source, or keeps one for nothing",
                         id.value);
  }
  if (predicted != forecast_.work())
    return "the devices' predicted work is not conserved";
  if (waits != queues_.size())
    return "rows and queues disagree";
  return {};
}

std::string hub::check_queues() const {
  for (const auto& [id, r] : requests_.all())
    if (queues_.contains(id) && queues_.marks_of(id) != marks_of(id, r))
      return fmt::format("row {} is not counted as what it is", id.value);
  for (const auto& [id, w] : workers_.all()) {
    const auto own = planning::lane_of(id);
    if (w.address.role == role::denoise_step
        && w.waiting() != queues_.size(own) + queues_.size(alone_lane(own)))
      return fmt::format("the queue of worker {} is not counted", id.value);
    if (w.batch.filling())
      return fmt::format("worker {} still fills its batch", id.value);
  }
  return {};
}

std::string hub::check_views() const {
  size_t listed = 0;
  for (const auto& x : cluster().workers) {
    const auto* w = workers_.find(x.worker);
    planning::worker_view now;
    if (w != nullptr)
      view_into(now, *w);
    if (w == nullptr || !workers_.is_seen(*w) || now != x)
      return fmt::format("the view of worker {} is out of date",
                         x.worker.value);
    ++listed;
  }
  for (const auto& [id, w] : workers_.all())
    listed -= workers_.is_seen(w) ? 1u : 0u;
  if (listed != 0)
    return "the views of the workers are not complete";
  return {};
}

std::string hub::check_seats() const {
  std::map<core::worker_id, uint64_t> steps_left;
  std::map<core::worker_id, uint32_t> taken;
  orders_.each([&](core::ticket, const dispatched& x) {
    steps_left[x.worker] += x.steps_left;
    ++taken[x.worker];
  });
  if (slots_.dispatches() != orders_.size())
    return "dispatches and slots disagree";
  for (const auto& [id, w] : workers_.all()) {
    if (w.seat.steps_left() != steps_left[id])
      return fmt::format("the steps of worker {} are not conserved", id.value);
    if (taken[id] != w.seat.taken())
      return fmt::format("seats of worker {} are not conserved", id.value);
  }
  return {};
}

std::string hub::check_alone() const {
  std::string broken;
  orders_.each([&](core::ticket who, const dispatched& x) {
    const auto& at = workers_.at(x.worker).address;
    const bool pool = at.role != role::denoise_step;
    orders_.each([&](core::ticket other, const dispatched& y) {
      if (const auto& there = workers_.at(y.worker).address;
          x.alone && other != who
          && (x.worker == y.worker
              || (pool && there.role != role::denoise_step
                  && there.process == at.process)))
        broken = fmt::format("request {} is not alone", who.id.value);
    });
  });
  return broken;
}

} // namespace atelier::actors
