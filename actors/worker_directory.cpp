// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/worker_directory.hpp>

#include <caf/send.hpp>

#include <utility>

namespace atelier::actors {

namespace {

template <class Handle, class T>
void post(const Handle& to, T x, inline_unit* here) {
  if (here != nullptr)
    here->keep(to, std::move(x));
  else
    caf::anon_send(to, std::move(x));
}

} // namespace

// -- worker_directory ---------------------------------------------------------

bool is_short(const work& x) {
  const auto* order = std::get_if<run_stage>(&x);
  return order == nullptr || order->is_short;
}

void worker_directory::add(role in, stage_actor x) {
  const std::lock_guard guard{mutex_};
  pool(in).push_back(std::move(x));
}

void worker_directory::add(denoise_step_actor x) {
  const std::lock_guard guard{mutex_};
  denoise_step_.push_back(std::move(x));
}

core::result<void> worker_directory::send(const worker_address& to, work what) {
  auto* spot = spot_ && is_short(what) ? &*spot_ : nullptr;
  send(to, std::move(what), spot);
  return {};
}

void worker_directory::run_on_the_spot(caf::actor_system& sys) {
  spot_.emplace(sys);
}

void worker_directory::settle() {
  if (spot_)
    spot_->run();
}

void worker_directory::send(const worker_address& to, work what,
                            inline_unit* here) {
  const std::lock_guard guard{mutex_};
  const auto i = to.index;
  if (auto* x = std::get_if<run_stage>(&what)) {
    if (const auto& there = pool(to.role); i < there.size())
      post(there[i], std::move(*x), here);
  } else if (auto* y = std::get_if<denoise>(&what)) {
    if (to.role == role::denoise_step && i < denoise_step_.size())
      post(denoise_step_[i], std::move(*y), here);
  } else if (auto* c = std::get_if<cancel_work>(&what)) {
    // The pools' work is short: it ends by itself.
    if (to.role == role::denoise_step && i < denoise_step_.size())
      post(denoise_step_[i], *c, here);
  } else if (auto* a = std::get_if<adopt>(&what)) {
    if (to.role == role::denoise_step && i < denoise_step_.size())
      post(denoise_step_[i], std::move(*a), here);
  } else if (auto* q = std::get_if<ask_order>(&what)) {
    if (to.role == role::denoise_step) {
      if (i < denoise_step_.size())
        post(denoise_step_[i], *q, here);
    } else if (const auto& there = pool(to.role); i < there.size()) {
      post(there[i], *q, here);
    }
  }
}

void worker_directory::clear() {
  const std::lock_guard guard{mutex_};
  for (auto& x : pools_)
    x.clear();
  denoise_step_.clear();
}

// -- mailbox_scheduler_port ---------------------------------------------------

void mailbox_scheduler_port::connect(scheduler_actor scheduler) {
  scheduler_ = std::move(scheduler);
}

void mailbox_scheduler_port::send(report what) {
  send(std::move(what), nullptr);
}

void mailbox_scheduler_port::send(report what, inline_unit* here) {
  if (scheduler_)
    std::visit([&](auto& x) { post(scheduler_, std::move(x), here); }, what);
}

void mailbox_scheduler_port::clear() {
  scheduler_ = nullptr;
}

// -- mailbox_supervision ------------------------------------------------------

void mailbox_supervision::connect(supervisor_actor watch, planner_actor plans) {
  watch_ = std::move(watch);
  plans_ = std::move(plans);
}

void mailbox_supervision::suspect(ipc::process_life who, std::string why) {
  if (watch_)
    caf::anon_send(watch_, suspect_process{who, std::move(why)});
}

void mailbox_supervision::request_caused(ipc::process_life who) {
  if (watch_)
    caf::anon_send(watch_, actors::request_caused{who});
}

void mailbox_supervision::cluster_changed(planning::cluster_view there) {
  if (plans_)
    caf::anon_send(plans_, actors::cluster_changed{std::move(there)});
}

void mailbox_supervision::clear() {
  watch_ = nullptr;
  plans_ = nullptr;
}

} // namespace atelier::actors
