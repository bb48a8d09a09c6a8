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
void count_down(queues::counts& of, core::queue_id queue) {
  if (const auto i = of.try_emplace(queue, 0).first; --i->second == 0)
    of.erase(i);
}

} // namespace

queues::queues(core::timespan ageing) : ageing_(ageing) {}

// -- waiting requests ---------------------------------------------------------

void queues::push(core::queue_id queue, const planning::waiting& entry, end at,
                  marks as) {
  if (as.held_up)
    ++held_up_[queue];
  if (as.under_way)
    ++under_way_[queue];
  if (as != marks{})
    marks_.insert_or_assign(entry.request, as);
  if (at == end::front)
    queues_.push_front(queue, entry);
  else
    queues_.push(queue, entry);
  dirty_.insert(queue);
}

void queues::remove(core::request_id request) {
  const auto queue = queues_.remove(request);
  const auto counted = marks_.find(request);
  if (!queue || counted == marks_.end())
    return;
  if (counted->second.held_up)
    count_down(held_up_, *queue);
  if (counted->second.under_way)
    count_down(under_way_, *queue);
  marks_.erase(counted);
}

void queues::hold_up(core::request_id request) {
  const auto queue = queues_.where(request);
  ATELIER_EXPECTS(queue, "the request waits in a queue");
  if (!std::exchange(marks_[request].held_up, true))
    ++held_up_[*queue];
}

queues::marks queues::marks_of(core::request_id request) const {
  const auto i = marks_.find(request);
  return i == marks_.end() ? marks{} : i->second;
}

std::vector<planning::waiting> queues::best(
  std::span<const core::queue_id> served, core::time_point now, size_t most,
  std::span<const core::tenant_id> without) const {
  return queues_.best(served, now, ageing_, most, without);
}

void queues::charge(core::tenant_id tenant, core::timespan given,
                    core::time_point now) {
  queues_.charge(tenant, given, now);
}

std::vector<core::request_id> queues::of(core::queue_id queue) const {
  return queues_.of(queue);
}

std::optional<core::queue_id> queues::where(core::request_id request) const {
  return queues_.where(request);
}

bool queues::contains(core::request_id request) const {
  return queues_.contains(request);
}

bool queues::empty(core::queue_id queue) const {
  return queues_.empty(queue);
}

size_t queues::size() const {
  return queues_.size();
}

size_t queues::size(core::queue_id queue) const {
  return queues_.size(queue);
}

const queues::counts& queues::under_way() const {
  return under_way_;
}

const queues::counts& queues::held_up() const {
  return held_up_;
}

bool queues::delays_again(std::span<const core::queue_id> served) const {
  return std::any_of(served.begin(), served.end(), [&](core::queue_id x) {
    const auto lacks = starved_.find(x);
    return held_up_.count(x) != 0
        && (lacks == starved_.end() || lacks->second == lack::seat);
  });
}

// -- queues to look at again --------------------------------------------------

void queues::touch(core::queue_id queue) {
  dirty_.insert(queue);
}

void queues::touch_waiting(core::queue_id queue) {
  if (!queues_.empty(queue))
    dirty_.insert(queue);
}

void queues::touch_untried(core::queue_id queue) {
  const auto lacks = starved_.find(queue);
  if (lacks == starved_.end() || lacks->second == lack::turn)
    touch_waiting(queue);
}

void queues::starve(core::queue_id queue, lack of) {
  starved_.insert_or_assign(queue, of);
}

void queues::feed() {
  for (const auto& [queue, of] : starved_)
    dirty_.insert(queue);
  starved_.clear();
}

void queues::feed(core::queue_id queue) {
  if (starved_.erase(queue) != 0)
    dirty_.insert(queue);
}

std::optional<core::queue_id> queues::next() {
  if (dirty_.empty())
    return std::nullopt;
  const auto queue = *dirty_.begin();
  dirty_.erase(dirty_.begin());
  return queue;
}

// -- workers with free seats --------------------------------------------------

void queues::offer(core::worker_id worker, uint32_t taken,
                   std::span<const core::queue_id> served) {
  auto& last = last_[worker];
  const offered_seat before{last.taken, worker};
  last.taken = taken;
  if (std::ranges::equal(last.served, served)) {
    for (const auto queue : served) {
      move_offer(queue, before, {taken, worker});
      touch_waiting(queue);
    }
    return;
  }
  for (const auto queue : last.served)
    open_[queue].erase(before);
  last.served.assign(served.begin(), served.end());
  for (const auto queue : served) {
    open_[queue].insert({taken, worker});
    touch_waiting(queue);
  }
}

void queues::move_offer(core::queue_id queue, const offered_seat& from,
                        const offered_seat& to) {
  if (from == to)
    return;
  auto& seats = open_[queue];
  seats.erase(from);
  seats.insert(to);
}

void queues::withdraw(core::worker_id worker) {
  offer(worker, 0, {});
  last_.erase(worker);
  // Its own queue is served by no other worker.
  for (auto i = open_.begin(); i != open_.end();)
    i = i->second.empty() ? open_.erase(i) : i + 1;
}

const queues::offers& queues::offered(core::queue_id queue) const {
  static const auto& none = *new offers;
  const auto i = open_.find(queue);
  return i == open_.end() ? none : i->second;
}

std::string queues::check() const {
  counts held_up;
  counts under_way;
  for (const auto& [request, as] : marks_) {
    const auto queue = queues_.where(request);
    if (!queue)
      return fmt::format("request {} is counted for a queue, but waits in none",
                         request.value);
    if (as.held_up)
      ++held_up[*queue];
    if (as.under_way)
      ++under_way[*queue];
  }
  if (held_up != held_up_)
    return "requests that were delayed are not counted";
  if (under_way != under_way_)
    return "requests that are under way are not counted";
  size_t offered = 0;
  for (const auto& [worker, last] : last_)
    for (const auto queue : last.served)
      if (++offered; !open_.contains(queue)
                     || !open_.at(queue).contains({last.taken, worker}))
        return fmt::format("worker {} has no offer in queue {}", worker.value,
                           queue.value);
  for (const auto& [queue, workers] : open_)
    offered -= workers.size();
  if (offered != 0)
    return "a queue has an offer that its worker did not make";
  return {};
}

} // namespace atelier::actors
