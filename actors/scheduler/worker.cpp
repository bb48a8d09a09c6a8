// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/queue_ids.hpp>
#include <atelier/actors/scheduler/worker.hpp>
#include <atelier/core/error.hpp>
#include <atelier/planning/policy.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

// A classifier's work waits in no queue.
std::vector<core::queue_id> queues_of_pool(role x) {
  switch (x) {
    case role::preprocess:
      return {prepare_queue};
    case role::postprocess:
      return {finish_queue};
    case role::recall:
      return {recall_queue};
    case role::device_stage:
      return {device_stage_queue};
    case role::classifier:
    case role::denoise_step:
      break;
  }
  return {};
}

std::vector<core::variant_id> variants_of(const std::vector<std::string>& names,
                                          const planning::profile& known) {
  std::vector<core::variant_id> out;
  for (const auto& name : names)
    if (const auto v = planning::find_variant(known, name))
      out.push_back(*v);
  return out;
}

} // namespace

void seating::sit(core::ticket who, uint64_t steps) {
  ATELIER_EXPECTS(free() > 0, "a seat is free");
  orders_.push_back(who);
  steps_left_ += steps;
}

void seating::stand_up(core::ticket who, uint64_t steps) {
  if (std::erase(orders_, who) != 0)
    steps_left_ -= steps;
}

std::vector<denoise> device_batch::end_filling() {
  filling_ = false;
  return std::exchange(joining_, {});
}

std::optional<core::timespan> signs_of_life::unexplained(
  core::time_point ran) const {
  const auto silent = ran - last_;
  if (reported_ || silent <= allowance_)
    return std::nullopt;
  return silent;
}

worker::worker(core::worker_id id, const worker_ready& x,
               const planning::profile& known, core::time_point now)
  : address(x.worker),
    device(x.device),
    run_steps(std::max(1u, x.run_steps)),
    seat(x.seats),
    signs(now) {
  view_.worker = id;
  view_.device_kind =
    x.kind.empty() ? planning::device_kind_of(x.device) : x.kind;
  view_.max_batch = std::max(1u, x.max_batch);
  view_.may_host = variants_of(x.may_host, known);
  view_.memory_bytes = x.memory_bytes;
  view_.hosting = variants_of(x.variants, known);
  host = on_device() ? hosted{view_.hosting, planning::queues_of(view_),
                              view_.max_batch, x.loads_beside}
                     : hosted{queues_of_pool(address.role)};
}

bool worker::takes_more() const {
  if (seat.free() == 0 || trial.draining() || trial.exclusive() || suspected_
      || !host.takes_rows())
    return false;
  if (!on_device() || host.join() == planning::joining::step)
    return true;
  const auto most = host.join() == planning::joining::single
                    ? 1u
                    : std::max(host.most_rows(), 1u);
  return seat.taken() == 0 || (batch.filling() && seat.taken() < most);
}

const planning::worker_view& worker::view() const {
  view_.seats_free = seat.free();
  view_.seats_taken = seat.taken();
  view_.steps_left = seat.steps_left();
  view_.waiting = waiting_;
  if (std::exchange(viewed_, host.version()) != host.version()) {
    view_.hosting = host.hosting();
    view_.becoming = host.becoming();
    view_.unloadable = host.unloadable();
    view_.level = host.level();
  }
  return view_;
}

const planning::worker_view& worker::view_of_one_seat() const {
  view();
  view_.seats_free = 1;
  return view_;
}

} // namespace atelier::actors
