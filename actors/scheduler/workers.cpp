// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/workers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace atelier::actors {

// -- joining and leaving ------------------------------------------------------

worker* workers::announce(const worker_ready& x, const planning::profile& known,
                          core::time_point now) {
  const auto grave = buried_.find(x.worker.process.process);
  const bool dead =
    grave != buried_.end() && x.worker.process.life <= grave->second;
  if (find(x.worker) != nullptr || x.seats == 0 || dead)
    return nullptr;
  const core::worker_id id{next_++};
  auto& w = all_.try_emplace(id, id, x, known, now).first->second;
  addresses_[x.worker] = id;
  w.beside_ = find_beside(w);
  if (w.beside_ != nullptr)
    w.beside_->beside_ = &w;
  if (w.on_device())
    device_seats_ += x.seats;
  else
    join_trial(w);
  members_changed();
  return &w;
}

void workers::bury(ipc::process_life who) {
  auto& grave = buried_[who.process];
  grave = std::max(grave, who.life);
}

std::set<core::worker_id> workers::of(ipc::process_life who) const {
  std::set<core::worker_id> out;
  for (const auto& [id, w] : all_)
    if (w.address.process == who)
      out.insert(id);
  return out;
}

void workers::remove(core::worker_id id) {
  const auto& w = all_.at(id);
  if (w.on_device())
    device_seats_ -= w.seat.all();
  if (w.beside_ != nullptr)
    w.beside_->beside_ = nullptr;
  addresses_.erase(w.address);
  all_.erase(id);
  members_changed();
}

// -- looking them up ----------------------------------------------------------

worker* workers::find(const worker_address& where) {
  const auto i = addresses_.find(where);
  return i == addresses_.end() ? nullptr : &all_.at(i->second);
}

worker* workers::find(core::worker_id id) {
  const auto i = all_.find(id);
  return i == all_.end() ? nullptr : &i->second;
}

const worker* workers::find(core::worker_id id) const {
  const auto i = all_.find(id);
  return i == all_.end() ? nullptr : &i->second;
}

worker& workers::at(core::worker_id id) {
  return all_.at(id);
}

const worker& workers::at(core::worker_id id) const {
  return all_.at(id);
}

std::map<core::worker_id, worker>& workers::all() {
  return all_;
}

const std::map<core::worker_id, worker>& workers::all() const {
  return all_;
}

uint32_t workers::device_seats() const {
  return device_seats_;
}

bool workers::left_out(const worker& w) const {
  return w.slow() && std::any_of(all_.begin(), all_.end(), [](const auto& x) {
           const worker& y = x.second;
           return y.on_device() && !y.slow() && !y.suspected();
         });
}

bool workers::is_seen(const worker& w) const {
  return w.on_device() && !w.suspected() && !left_out(w);
}

bool workers::others_serve(core::queue_id queue) const {
  return std::any_of(all_.begin(), all_.end(), [&](const auto& x) {
    const worker& w = x.second;
    return !w.slow() && !w.suspected() && w.host.serves(queue);
  });
}

bool workers::anyone_serves(core::queue_id queue) const {
  return std::any_of(all_.begin(), all_.end(), [&](const auto& x) {
    return !x.second.suspected() && x.second.host.serves(queue);
  });
}

// -- changes of workers -------------------------------------------------------

void workers::suspect(worker& w) {
  w.suspected_ = true;
  members_changed();
}

void workers::set_slow(worker& w, bool slow) {
  w.slow_ = slow;
  members_changed();
}

void workers::count_waiting(core::worker_id id, bool comes) {
  auto* w = find(id);
  if (w == nullptr)
    return;
  if (comes)
    ++w->waiting_;
  else
    --w->waiting_;
  view_changed(*w);
}

const worker* workers::beside(const worker& w) const {
  return w.beside_;
}

worker* workers::beside(worker& w) {
  return w.beside_;
}

worker* workers::find_beside(const worker& w) {
  if (!w.waits_for_device())
    return nullptr;
  auto there = w.address;
  there.role = w.on_device() ? role::device_stage : role::denoise_step;
  return find(there);
}

bool workers::takes_more(const worker& w) const {
  if (!w.takes_more())
    return false;
  const auto* const other = beside(w);
  return other == nullptr || !other->trial.keeps_device();
}

void workers::each_beside(const worker& w,
                          const std::function<void(worker&)>& f) {
  for (auto& [id, x] : all_)
    if (&x == &w
        || (!w.on_device() && !x.on_device()
            && x.address.process == w.address.process))
      f(x);
}

void workers::join_trial(worker& w) const {
  for (const auto& [id, x] : all_)
    if (&x != &w && !x.on_device() && x.address.process == w.address.process)
      w.trial.join(x.trial);
}

// -- views of policies --------------------------------------------------------

void workers::view_changed(const worker& w) {
  if (!w.on_device() || members_changed_)
    return;
  outdated_.push_back(w.id());
  // The views were not read for so long that copying all of them costs no more.
  members_changed_ = outdated_.size() > all_.size();
}

void workers::members_changed() {
  members_changed_ = true;
}

planning::worker_view* workers::seen_view(core::worker_id id) const {
  const auto i = std::lower_bound(
    seen_.workers.begin(), seen_.workers.end(), id,
    [](const auto& x, core::worker_id y) { return x.worker < y; });
  return i != seen_.workers.end() && i->worker == id ? &*i : nullptr;
}

const planning::cluster_view& workers::seen() const {
  return seen_;
}

void workers::show(std::vector<planning::kind_costs> costs) {
  seen_.costs = std::move(costs);
}

std::string workers::check() const {
  uint32_t seats = 0;
  for (const auto& [id, w] : all_) {
    seats += w.on_device() ? w.seat.all() : 0;
    const auto found = addresses_.find(w.address);
    if (found == addresses_.end() || found->second != id)
      return fmt::format("worker {} is not found by its address", id.value);
    if (w.beside_ != nullptr && w.beside_->beside_ != &w)
      return fmt::format("worker {} has another neighbour than it is one of",
                         id.value);
    if (w.seat.taken() > w.seat.all())
      return fmt::format("worker {} has more orders than seats", id.value);
  }
  if (addresses_.size() != all_.size())
    return "an address names a worker that is gone";
  if (seats != device_seats_)
    return "the seats of devices are not counted";
  return {};
}

} // namespace atelier::actors
