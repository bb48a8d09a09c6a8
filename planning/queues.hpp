// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/waiting_tree.hpp>

#include <boost/container/flat_map.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace atelier::planning {

/// The queues of dispatchable legs: pure, ordered, without a clock.
/// Invariant: a request is in at most one queue, once. Every change and every
/// entry of `best` costs the logarithm of the queue's length, and time for each
/// tenant that waits.
class queues {
public:
  queues() = default;
  queues(queues&&) = default;
  queues& operator=(queues&&) = default;
  queues(const queues&) = delete;
  queues& operator=(const queues&) = delete;

  /// Puts a leg at the end of its priority in `queue`. Returns false if the
  /// request already waits.
  bool push(core::queue_id queue, const waiting& entry);

  /// Puts a leg that ran before and lost its worker before all others of its
  /// priority and deadline. Returns false if the request already waits.
  bool push_front(core::queue_id queue, const waiting& entry);

  /// Removes a request from its queue, and returns that queue, if it waits.
  std::optional<core::queue_id> remove(core::request_id request);

  /// Returns the entries of the queues `served`, best first, at most `most`.
  /// One tenant's entries are ordered by priority (raised by one after `ageing`
  /// of waiting; never if it is 0), then the earlier deadline, then arrival.
  /// Tenants take turns, whatever priorities they ask for: those without
  /// service for `ageing` go first, by the number of such times, then the least
  /// work received for its share (start-time fair queueing by seconds of
  /// `still_needs`: a new tenant begins with the minimum of the waiting ones).
  /// A tenant's share is that of its newest entry.
  /// @param without sorted; tenants whose entries are left out
  std::vector<waiting> best(
    std::span<const core::queue_id> served, core::time_point now,
    core::timespan ageing, size_t most,
    std::span<const core::tenant_id> without = {}) const;

  /// The most work of its own by which a tenant that waits may be behind
  /// another one; for tenants of a smaller share the same time divided by the
  /// largest share that waits. It does not make up for more that others
  /// received while its own could not run.
  static constexpr core::timespan most_behind = std::chrono::minutes{1};

  /// Notes that a tenant received this amount of work: others take their turn
  /// before its next one. No tenant is behind it by more than `most_behind`, or
  /// by more than this amount if that is larger.
  void charge(core::tenant_id tenant, core::timespan work,
              core::time_point now);

  /// Returns every waiting request of `queue`, in order of arrival.
  std::vector<core::request_id> of(core::queue_id queue) const;

  bool empty(core::queue_id queue) const;
  size_t size() const;
  size_t size(core::queue_id queue) const;
  /// Returns the queue in which a request waits, if it does.
  std::optional<core::queue_id> where(core::request_id request) const;

  bool contains(core::request_id request) const;

private:
  /// One tree for each priority.
  using trees = std::array<waiting_tree, 3>;

  struct contents {
    /// Only tenants with entries in the queue. Every reader reads all of them,
    /// so that inserting one may cost as much.
    boost::container::flat_map<core::tenant_id, trees> by_tenant;
    size_t count = 0;
  };

  /// The work that a tenant received.
  struct account {
    /// Seconds, divided by the share.
    double used = 0;
    double share = 1;
    core::time_point served = core::time_point::min();
    /// Counts of all queues.
    size_t waiting = 0;
  };

  bool put(core::queue_id where, const waiting& entry, int64_t order);
  void enter(core::tenant_id tenant, uint32_t share);

  /// Queues with entries, and a few without: single entries that come and leave
  /// do not make their queue each time.
  std::map<core::queue_id, contents> queues_;
  /// Tenants with entries, and tenants that received more than the waiting
  /// tenant with the minimum.
  std::map<core::tenant_id, account> accounts_;
  /// Owns the nodes of all trees.
  std::unordered_map<core::request_id, waiting_node> nodes_;
  int64_t back_ = 0;
  int64_t front_ = -1;
};

} // namespace atelier::planning
