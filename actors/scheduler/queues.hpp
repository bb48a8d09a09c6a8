// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/lanes.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace atelier::actors {

/// Holds the queues of requests, the workers with free seats that serve them,
/// and the queues that must be looked at again. This part of the scheduler
/// knows requests and workers only by their numbers; it has no row, no worker
/// and no slot.
///
/// Invariants (see check): requests that are counted for a queue wait in it.
/// Threads: one at a time.
class queues {
public:
  /// @param ageing as in planning::lanes::best
  explicit queues(core::timespan ageing);

  // -- waiting requests -------------------------------------------------------

  /// Where in its priority a request enters a queue.
  enum class end : uint8_t { front, back };

  /// How a waiting request is counted; the marks must be the same when it
  /// leaves.
  struct marks {
    /// Another request's death delayed it, and it is not a suspect itself.
    bool held_up = false;
    /// It is under way: it may hold slots, which it frees at its end.
    bool under_way = false;
  };

  /// Makes a request wait; its queue is looked at again.
  void push(core::lane_id lane, const planning::waiting& entry, end at,
            marks as);

  /// Removes a request from the queue in which it waits.
  void remove(core::request_id request, marks as);

  /// Counts a request that waits in a queue as held up from now on.
  void hold_up(core::lane_id lane);

  /// These call the functions of planning::lanes.
  std::vector<planning::waiting> best(std::span<const core::lane_id> served,
                                      core::time_point now, size_t most) const;
  void charge(core::tenant_id tenant, core::timespan given,
              core::time_point now);
  std::vector<core::request_id> of(core::lane_id lane) const;
  std::optional<core::lane_id> where(core::request_id request) const;
  bool contains(core::request_id request) const;
  bool empty(core::lane_id lane) const;
  size_t size() const;
  size_t size(core::lane_id lane) const;

  /// Returns the number of requests under way, by queue.
  const std::map<core::lane_id, uint32_t>& under_way() const;

  /// Returns the number of requests held up, by queue.
  const std::map<core::lane_id, uint32_t>& held_up() const;

  /// Whether requests that can continue are held up in these queues.
  bool delays_again(std::span<const core::lane_id> lanes) const;

  // -- queues to look at again ------------------------------------------------

  void touch(core::lane_id lane);

  /// Marks a queue to be looked at again if it is not empty.
  void touch_waiting(core::lane_id lane);

  /// Notes that the next request of a queue found no slot.
  void starve(core::lane_id lane);

  /// Marks every queue whose next request found no slot to be looked at again.
  void feed();

  /// Returns a queue that must be looked at, each once.
  std::optional<core::lane_id> next();

  // -- workers with free seats ------------------------------------------------

  /// Workers by their taken seats, the least loaded one first.
  using offers = std::set<std::pair<uint32_t, core::worker_id>>;

  /// Notes that a worker has a free seat for a queue; the queue is looked at
  /// again if it is not empty.
  void offer(core::lane_id lane, uint32_t taken, core::worker_id worker);

  /// @param taken as in the offer
  void withdraw(core::lane_id lane, uint32_t taken, core::worker_id worker);

  const offers& offered(core::lane_id lane) const;

  /// Returns the first invariant that does not hold; empty if all hold.
  std::string check() const;

private:
  core::timespan ageing_;
  planning::lanes lanes_;
  std::map<core::lane_id, offers> open_;
  std::set<core::lane_id> dirty_;
  std::set<core::lane_id> starved_;
  std::map<core::lane_id, uint32_t> held_up_;
  std::map<core::lane_id, uint32_t> under_way_;
};

} // namespace atelier::actors
