// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include <atelier/core/ids.hpp>
#include <atelier/planning/cluster.hpp>

namespace atelier::planning {

/// The queues of dispatchable stages: pure, ordered, no clock.
/// Invariant: a request stands in at most one lane, once.
class lanes {
public:
  /// Puts a stage at the end of its priority in `lane`. False where the request
  /// waits already.
  bool push(core::lane_id lane, const waiting& entry);

  /// Puts a stage before all others of its priority: it ran before and lost
  /// its worker.
  bool push_front(core::lane_id lane, const waiting& entry);

  /// Takes a request out of whatever lane it waits in.
  bool remove(core::request_id request);

  /// Returns what waits in `served`, best first: priority (raised by one for
  /// each `ageing` waited), then the earlier deadline, then arrival. At most
  /// `most` entries.
  std::vector<waiting> best(std::span<const core::lane_id> served,
                            core::time_point now, core::timespan ageing,
                            size_t most) const;

  /// Returns every waiting request of `lane`, in order of arrival.
  std::vector<core::request_id> of(core::lane_id lane) const;

  bool empty(core::lane_id lane) const;
  size_t size() const;
  size_t size(core::lane_id lane) const;
  bool contains(core::request_id request) const;

private:
  struct entry {
    waiting what;
    int64_t order = 0;
  };

  struct place {
    core::lane_id lane;
    int64_t order = 0;
  };

  std::map<core::lane_id, std::map<int64_t, entry>> queues_;
  std::unordered_map<core::request_id, place> where_;
  int64_t back_ = 0;
  int64_t front_ = -1;
};

} // namespace atelier::planning
