// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/queues.hpp>
#include <atelier/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

// A count that is missing, which is a fault, becomes one that queues::check
// finds.
void count_down(queues::counts& of, core::lane_id lane) {
  if (const auto i = of.try_emplace(lane, 0).first; --i->second == 0)
    of.erase(i);
}

} // namespace

queues::queues(core::timespan ageing) : ageing_(ageing) {}

// -- waiting requests ---------------------------------------------------------

void queues::push(core::lane_id lane, const planning::waiting& entry, end at,
                  marks as) {
  if (as.held_up)
    ++held_up_[lane];
  if (as.under_way)
    ++under_way_[lane];
  if (as != marks{})
    marks_.insert_or_assign(entry.request, as);
  if (at == end::front)
    lanes_.push_front(lane, entry);
  else
    lanes_.push(lane, entry);
  dirty_.insert(lane);
}

void queues::remove(core::request_id request) {
  const auto lane = lanes_.remove(request);
  const auto counted = marks_.find(request);
  if (!lane || counted == marks_.end())
    return;
  if (counted->second.held_up)
    count_down(held_up_, *lane);
  if (counted->second.under_way)
    count_down(under_way_, *lane);
  marks_.erase(counted);
}

void queues::hold_up(core::request_id request) {
  const auto lane = lanes_.where(request);
  ATELIER_EXPECTS(lane, "the request waits in a queue");
  if (!std::exchange(marks_[request].held_up, true))
    ++held_up_[*lane];
}

queues::marks queues::marks_of(core::request_id request) const {
  const auto i = marks_.find(request);
  return i == marks_.end() ? marks{} : i->second;
}

std::vector<planning::waiting> queues::best(
  std::span<const core::lane_id> served, core::time_point now, size_t most,
  std::span<const core::tenant_id> without) const {
  return lanes_.best(served, now, ageing_, most, without);
}

void queues::charge(core::tenant_id tenant, core::timespan given,
                    core::time_point now) {
  lanes_.charge(tenant, given, now);
}

std::vector<core::request_id> queues::of(core::lane_id lane) const {
  return lanes_.of(lane);
}

std::optional<core::lane_id> queues::where(core::request_id request) const {
  return lanes_.where(request);
}

bool queues::contains(core::request_id request) const {
  return lanes_.contains(request);
}

bool queues::empty(core::lane_id lane) const {
  return lanes_.empty(lane);
}

size_t queues::size() const {
  return lanes_.size();
}

size_t queues::size(core::lane_id lane) const {
  return lanes_.size(lane);
}

const queues::counts& queues::under_way() const {
  return under_way_;
}

const queues::counts& queues::held_up() const {
  return held_up_;
}

bool queues::delays_again(std::span<const core::lane_id> lanes) const {
  return std::any_of(lanes.begin(), lanes.end(), [&](core::lane_id x) {
    const auto lacks = starved_.find(x);
    return held_up_.count(x) != 0
        && (lacks == starved_.end() || lacks->second == lack::seat);
  });
}

// -- queues to look at again --------------------------------------------------

void queues::touch(core::lane_id lane) {
  dirty_.insert(lane);
}

void queues::touch_waiting(core::lane_id lane) {
  if (!lanes_.empty(lane))
    dirty_.insert(lane);
}

void queues::starve(core::lane_id lane, lack of) {
  starved_.insert_or_assign(lane, of);
}

void queues::feed() {
  for (const auto& [lane, of] : starved_)
    dirty_.insert(lane);
  starved_.clear();
}

void queues::feed(core::lane_id lane) {
  if (starved_.erase(lane) != 0)
    dirty_.insert(lane);
}

std::optional<core::lane_id> queues::next() {
  if (dirty_.empty())
    return std::nullopt;
  const auto lane = *dirty_.begin();
  dirty_.erase(dirty_.begin());
  return lane;
}

// -- workers with free seats --------------------------------------------------

void queues::offer(core::worker_id worker, uint32_t taken,
                   std::span<const core::lane_id> lanes) {
  auto& last = last_[worker];
  for (const auto lane : last.lanes)
    open_[lane].erase({last.taken, worker});
  last.taken = taken;
  last.lanes.assign(lanes.begin(), lanes.end());
  for (const auto lane : lanes) {
    open_[lane].insert({taken, worker});
    touch_waiting(lane);
  }
}

void queues::withdraw(core::worker_id worker) {
  offer(worker, 0, {});
  last_.erase(worker);
  // Its own queue is served by no other worker.
  for (auto i = open_.begin(); i != open_.end();)
    i = i->second.empty() ? open_.erase(i) : i + 1;
}

const queues::offers& queues::offered(core::lane_id lane) const {
  static const auto& none = *new offers;
  const auto i = open_.find(lane);
  return i == open_.end() ? none : i->second;
}

std::string queues::check() const {
  counts held_up;
  counts under_way;
  for (const auto& [request, as] : marks_) {
    const auto lane = lanes_.where(request);
    if (!lane)
      return fmt::format("request {} is counted for a queue, but waits in none",
                         request.value);
    if (as.held_up)
      ++held_up[*lane];
    if (as.under_way)
      ++under_way[*lane];
  }
  if (held_up != held_up_)
    return "requests that were delayed are not counted";
  if (under_way != under_way_)
    return "requests that are under way are not counted";
  size_t offered = 0;
  for (const auto& [worker, last] : last_)
    for (const auto lane : last.lanes)
      if (++offered; !open_.contains(lane)
                     || !open_.at(lane).contains({last.taken, worker}))
        return fmt::format("worker {} has no offer in queue {}", worker.value,
                           lane.value);
  for (const auto& [lane, workers] : open_)
    offered -= workers.size();
  if (offered != 0)
    return "a queue has an offer that its worker did not make";
  return {};
}

} // namespace atelier::actors
