// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/hub_lanes.hpp>
#include <atelier/actors/scheduler/workers.hpp>
#include <atelier/planning/policy.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

// A classifier's work waits in no queue.
std::vector<core::lane_id> lanes_of_pool(role x) {
  switch (x) {
    case role::preprocess:
      return {prepare_lane};
    case role::postprocess:
      return {finish_lane};
    case role::recall:
      return {recall_lane};
    case role::classifier:
    case role::denoise_step:
      break;
  }
  return {};
}

} // namespace

bool worker::does_serve(core::lane_id lane) const {
  return std::find(serves.begin(), serves.end(), lane) != serves.end();
}

// -- joining and leaving ------------------------------------------------------

worker* workers::announce(const worker_ready& x, const planning::profile& known,
                          core::time_point now) {
  const auto grave = buried_.find(x.worker.process.process);
  const bool dead =
    grave != buried_.end() && x.worker.process.life <= grave->second;
  if (find(x.worker) != nullptr || x.seats == 0 || dead)
    return nullptr;
  const core::worker_id id{next_++};
  auto& w = all_[id];
  addresses_[x.worker] = id;
  w.address = x.worker;
  w.seats = x.seats;
  w.run_steps = std::max(1u, x.run_steps);
  w.last_sign = now;
  w.view.worker = id;
  w.device = x.device;
  w.view.device_kind =
    x.kind.empty() ? planning::device_kind_of(x.device) : x.kind;
  w.view.max_batch = std::max(1u, x.max_batch);
  w.view.seats_free = x.seats;
  for (const auto& name : x.variants)
    if (const auto v = planning::find_variant(known, name))
      w.view.hosting.push_back(*v);
  w.view.becoming = w.view.hosting;
  for (const auto& name : x.may_host)
    if (const auto v = planning::find_variant(known, name))
      w.view.may_host.push_back(*v);
  w.view.memory_bytes = x.memory_bytes;
  w.loads_beside = x.loads_beside;
  w.most_rows = w.view.max_batch;
  if (w.on_device()) {
    w.serves = lanes_of(w);
    device_seats_ += x.seats;
  } else {
    w.serves = lanes_of_pool(x.worker.role);
    join_trial(w);
  }
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
    device_seats_ -= w.seats;
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
  return w.slow && std::any_of(all_.begin(), all_.end(), [](const auto& x) {
           return x.second.on_device() && !x.second.slow && !x.second.suspected;
         });
}

bool workers::is_seen(const worker& w) const {
  return w.on_device() && !w.suspected && !left_out(w);
}

bool workers::others_serve(core::lane_id lane) const {
  return std::any_of(all_.begin(), all_.end(), [&](const auto& x) {
    const worker& w = x.second;
    return !w.slow && !w.suspected && w.does_serve(lane);
  });
}

bool workers::anyone_serves(core::lane_id lane) const {
  return std::any_of(all_.begin(), all_.end(), [&](const auto& x) {
    return !x.second.suspected && x.second.does_serve(lane);
  });
}

// -- seats --------------------------------------------------------------------

bool workers::takes_more(const worker& w) {
  if (w.view.seats_free == 0 || w.draining || w.exclusive || w.suspected
      || w.loading || w.next_hosting)
    return false;
  if (!w.on_device() || w.join == planning::joining::step)
    return true;
  const auto batch =
    w.join == planning::joining::single ? 1u : std::max(w.most_rows, 1u);
  return w.view.seats_taken == 0 || (w.filling && w.view.seats_taken < batch);
}

void workers::sit(worker& w, core::ticket who, uint64_t steps) {
  ++w.view.seats_taken;
  --w.view.seats_free;
  w.view.steps_left += steps;
  w.has.push_back(who);
}

void workers::stand_up(worker& w, core::ticket who, uint64_t steps) {
  --w.view.seats_taken;
  ++w.view.seats_free;
  w.view.steps_left -= steps;
  std::erase(w.batch, who);
  std::erase(w.has, who);
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
    if (&x != &w && !x.on_device() && x.address.process == w.address.process) {
      w.exclusive = w.exclusive || x.exclusive;
      w.draining = w.draining || x.draining;
    }
}

// -- hosting ------------------------------------------------------------------

adopt workers::order_for(worker& w, std::vector<core::variant_id> hosting) {
  adopt x;
  x.number = ++w.adopts;
  x.hosting = std::move(hosting);
  x.batch = w.most_rows;
  x.join = w.join;
  return x;
}

std::vector<core::lane_id> workers::lanes_of(const worker& w) {
  auto out = planning::lanes_of(w.view);
  for (const auto lane : w.also_serves)
    if (std::find(out.begin(), out.end(), lane) == out.end())
      out.push_back(lane);
  return out;
}

// -- views of policies --------------------------------------------------------

void workers::view_changed(const worker& w) {
  if (!w.on_device() || members_changed_)
    return;
  outdated_.push_back(w.view.worker);
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
    seats += w.on_device() ? w.seats : 0;
    const auto found = addresses_.find(w.address);
    if (found == addresses_.end() || found->second != id)
      return fmt::format("worker {} is not found by its address", id.value);
    if (w.has.size() != w.view.seats_taken
        || w.view.seats_taken + w.view.seats_free != w.seats)
      return fmt::format("seats of worker {} are not conserved", id.value);
  }
  if (addresses_.size() != all_.size())
    return "an address names a worker that is gone";
  if (seats != device_seats_)
    return "the seats of devices are not counted";
  return {};
}

} // namespace atelier::actors
