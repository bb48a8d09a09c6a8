// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/waiting_tree.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace atelier::planning {

/// The queues of dispatchable legs: pure, ordered, no clock.
/// Invariant: a request stands in at most one lane, once.
/// Every change and every entry of `best` costs the logarithm of what waits.
class lanes {
public:
  lanes() = default;
  lanes(lanes&&) = default;
  lanes& operator=(lanes&&) = default;
  lanes(const lanes&) = delete;
  lanes& operator=(const lanes&) = delete;

  /// Puts a leg at the end of its priority in `lane`. False where the request
  /// waits already.
  bool push(core::lane_id lane, const waiting& entry);

  /// Puts a leg before all others of its priority and deadline: it ran before
  /// and lost its worker. False where the request waits already.
  bool push_front(core::lane_id lane, const waiting& entry);

  /// Takes a request out of whatever lane it waits in.
  bool remove(core::request_id request);

  /// Returns what waits in `served`, best first. What one tenant has: by
  /// priority (raised by one for full `ageing` waited; never where it is 0),
  /// then the earlier deadline, then arrival. Between tenants: by the priority
  /// of what each has best (raised by one for full `ageing` in which it was
  /// given nothing though it waited), then by the least work that it was given
  /// (start-time fair queueing by seconds of `still_needs`: who comes begins
  /// with the least of those that wait). At most `most` entries.
  std::vector<waiting> best(std::span<const core::lane_id> served,
                            core::time_point now, core::timespan ageing,
                            size_t most) const;

  /// Notes that a tenant was given so much work: others have their turn before
  /// it has another.
  void charge(core::tenant_id tenant, core::timespan work,
              core::time_point now);

  /// Returns every waiting request of `lane`, in order of arrival.
  std::vector<core::request_id> of(core::lane_id lane) const;

  bool empty(core::lane_id lane) const;
  size_t size() const;
  size_t size(core::lane_id lane) const;
  /// Returns the lane that a request waits in, if it does.
  std::optional<core::lane_id> where(core::request_id request) const;

  bool contains(core::request_id request) const;

private:
  /// One tree for each priority.
  using trees = std::array<waiting_tree, 3>;

  struct queue {
    /// Only tenants of which something waits.
    std::map<core::tenant_id, trees> by_tenant;
    size_t count = 0;
  };

  /// What a tenant was given.
  struct account {
    double used = 0;
    core::time_point served = core::time_point::min();
    /// Of all lanes.
    size_t waiting = 0;
  };

  bool put(core::lane_id where, const waiting& entry, int64_t order);
  void enter(core::tenant_id tenant);

  /// Only lanes in which something waits.
  std::map<core::lane_id, queue> queues_;
  /// Of tenants of which something waits, and of those that had more than the
  /// one of them that had the least.
  std::map<core::tenant_id, account> accounts_;
  /// Owns the nodes of all trees.
  std::unordered_map<core::request_id, waiting_node> nodes_;
  int64_t back_ = 0;
  int64_t front_ = -1;
};

} // namespace atelier::planning
