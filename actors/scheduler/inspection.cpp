// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/inspection.hpp>
#include <atelier/actors/scheduler/queue_ids.hpp>
#include <atelier/planning/policy.hpp>

#include <fmt/format.h>

#include <map>
#include <utility>

namespace atelier::actors {

scheduler_status inspection::status(const planning::profile& known) const {
  scheduler_status s;
  s.counts = of_.records.counts();
  s.waiting = static_cast<uint32_t>(of_.queues.size());
  s.running = static_cast<uint32_t>(of_.requests.open() - of_.queues.size());
  s.plan = of_.rules.plan();
  s.profile = of_.forecast.profile();
  s.slots = of_.slots.all();
  s.slots_in_use = of_.slots.in_use();
  for (const auto& [id, w] : of_.workers.all()) {
    if (w.address.role != role::denoise_step) {
      ++s.pool_workers[w.address.role];
      continue;
    }
    worker_line line;
    line.device = w.device;
    for (const auto v : w.host.hosting())
      line.variants.push_back(known.variants[v.value].name);
    line.seats_taken = w.seat.taken();
    line.seats = w.seat.all();
    line.max_batch = w.max_batch();
    line.loading = !w.host.takes_rows();
    line.slow = w.slow();
    line.failed = of_.hosting.failures_at(w);
    s.workers.push_back(std::move(line));
  }
  return s;
}

std::string inspection::check() const {
  const auto& counts = of_.records.counts();
  if (counts.arrived
      != counts.refused + counts.answered + counts.failed + counts.cancelled
           + of_.requests.open())
    return "requests are not conserved";
  for (const auto& broken :
       {of_.requests.check(), of_.slots.check(), of_.queues.check(),
        of_.questions.check(), of_.workers.check(), check_rows(),
        check_queues(), check_views(), check_seats(), check_alone()})
    if (!broken.empty())
      return broken;
  return {};
}

std::string inspection::check_rows() const {
  size_t waits = 0;
  core::timespan predicted{0};
  for (const auto& [id, r] : of_.requests.all()) {
    predicted += of_.forecast.work_of(id);
    if (r.state() == row_state::waiting) {
      ++waits;
      if (!of_.queues.contains(id))
        return fmt::format("row {} waits but is in no queue", id.value);
    } else if (of_.queues.contains(id)) {
      return fmt::format("row {} does not wait but is in a queue", id.value);
    }
    if ((r.state() == row_state::asking) != of_.questions.is_open(id))
      return fmt::format("row {} asks for nothing, or does not wait for it",
                         id.value);
    if (r.state() == row_state::running
        && of_.orders.find({id, r.attempt()}) == nullptr)
      return fmt::format("row {} runs on no worker", id.value);
    const bool has_source = r.course.recipe().from_image
                         && !is_terminal(r.state()) && !r.course.answering()
                         && (r.course.phase() == phase::denoising
                             || (r.course.phase() == phase::preparing
                                 && (r.held[planning::held::state]
                                     || r.course.starts_from_found())));
    const auto source = r.held[planning::held::source];
    if (has_source != static_cast<bool>(source)
        || (has_source && !of_.slots.holds(source)))
      return fmt::format("row {} lost its source, or keeps one for nothing",
                         id.value);
  }
  std::string forgotten;
  const auto belongs = [&](core::request_id id) {
    const auto* r = of_.requests.find(id);
    if (r == nullptr || is_terminal(r->state()))
      forgotten =
        fmt::format("a part still knows request {}, which ended", id.value);
  };
  of_.questions.each_request(belongs);
  of_.suspicions.each_request(belongs);
  of_.forecast.each_request(belongs);
  if (!forgotten.empty())
    return forgotten;
  if (predicted != of_.forecast.work())
    return "the devices' predicted work is not conserved";
  if (waits != of_.queues.size())
    return "rows and queues disagree";
  return {};
}

std::string inspection::check_queues() const {
  for (const auto& [id, r] : of_.requests.all())
    if (of_.queues.contains(id)
        && of_.queues.marks_of(id)
             != queues::marks{of_.suspicions.is_held_up(id), is_under_way(r)})
      return fmt::format("row {} is not counted as what it is", id.value);
  for (const auto& [id, w] : of_.workers.all()) {
    const auto own = planning::queue_of(id);
    if (w.address.role == role::denoise_step
        && w.waiting()
             != of_.queues.size(own) + of_.queues.size(alone_queue(own)))
      return fmt::format("the queue of worker {} is not counted", id.value);
    if (w.batch.filling())
      return fmt::format("worker {} still fills its batch", id.value);
  }
  return {};
}

std::string inspection::check_views() const {
  size_t listed = 0;
  for (const auto& x : of_.views.cluster().workers) {
    const auto* w = of_.workers.find(x.worker);
    planning::worker_view now;
    if (w != nullptr)
      of_.views.write(now, *w);
    if (w == nullptr || !of_.workers.is_seen(*w) || now != x)
      return fmt::format("the view of worker {} is out of date",
                         x.worker.value);
    ++listed;
  }
  for (const auto& [id, w] : of_.workers.all())
    listed -= of_.workers.is_seen(w) ? 1u : 0u;
  if (listed != 0)
    return "the views of the workers are not complete";
  return {};
}

std::string inspection::check_seats() const {
  std::map<core::worker_id, uint64_t> steps_left;
  std::map<core::worker_id, uint32_t> taken;
  of_.orders.each([&](core::ticket, const dispatched& x) {
    steps_left[x.worker] += x.steps_left;
    ++taken[x.worker];
  });
  if (of_.slots.dispatches() != of_.orders.size())
    return "dispatches and slots disagree";
  for (const auto& [id, w] : of_.workers.all()) {
    if (w.seat.steps_left() != steps_left[id])
      return fmt::format("the steps of worker {} are not conserved", id.value);
    if (taken[id] != w.seat.taken())
      return fmt::format("seats of worker {} are not conserved", id.value);
  }
  return {};
}

std::string inspection::check_alone() const {
  std::string broken;
  of_.orders.each([&](core::ticket who, const dispatched& x) {
    const auto& at = of_.workers.at(x.worker).address;
    const bool pool = at.role != role::denoise_step;
    of_.orders.each([&](core::ticket other, const dispatched& y) {
      if (const auto& there = of_.workers.at(y.worker).address;
          x.alone && other != who
          && (x.worker == y.worker
              || of_.workers.beside(of_.workers.at(x.worker))
                   == of_.workers.find(y.worker)
              || (pool && there.role != role::denoise_step
                  && there.process == at.process)))
        broken = fmt::format("request {} is not alone", who.id.value);
    });
  });
  return broken;
}

} // namespace atelier::actors
