// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/queues.hpp>

#include <fmt/format.h>

#include <algorithm>

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
  if (at == end::front)
    lanes_.push_front(lane, entry);
  else
    lanes_.push(lane, entry);
  dirty_.insert(lane);
}

void queues::remove(core::request_id request, marks as) {
  if (const auto lane = lanes_.remove(request)) {
    if (as.held_up)
      count_down(held_up_, *lane);
    if (as.under_way)
      count_down(under_way_, *lane);
  }
}

void queues::hold_up(core::lane_id lane) {
  ++held_up_[lane];
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

void queues::offer(core::lane_id lane, uint32_t taken, core::worker_id worker) {
  open_[lane].insert({taken, worker});
  touch_waiting(lane);
}

void queues::withdraw(core::lane_id lane, uint32_t taken,
                      core::worker_id worker) {
  if (const auto i = open_.find(lane); i != open_.end())
    i->second.erase({taken, worker});
}

const queues::offers& queues::offered(core::lane_id lane) const {
  static const auto& none = *new offers;
  const auto i = open_.find(lane);
  return i == open_.end() ? none : i->second;
}

std::string queues::check() const {
  for (const auto& [lane, count] : held_up_)
    if (count == 0 || count > lanes_.size(lane))
      return fmt::format(
        "queue {} counts {} that are held up, but {} wait there", lane.value,
        count, lanes_.size(lane));
  for (const auto& [lane, count] : under_way_)
    if (count == 0 || count > lanes_.size(lane))
      return fmt::format(
        "queue {} counts {} that are under way, but {} wait there", lane.value,
        count, lanes_.size(lane));
  return {};
}

} // namespace atelier::actors
