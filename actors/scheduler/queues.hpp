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

/// Holds what waits for whom: lanes of requests, the workers with free seats
/// that serve them, and which lanes are to be looked at again. This part of the
/// scheduler knows requests and workers by their numbers alone: no row, no
/// worker, no slot.
///
/// Invariants (see check): what is counted of a lane waits there.
/// Threads: one at a time.
class queues {
public:
  /// @param ageing as of planning::lanes::best
  explicit queues(core::timespan ageing);

  // -- who waits --------------------------------------------------------------

  /// Where in its priority a request enters a lane.
  enum class end : uint8_t { front, back };

  /// Says how a waiting request is counted; the marks must be the same when it
  /// leaves.
  struct marks {
    /// Another's death delayed it, and it is no suspect itself.
    bool held_up = false;
    /// It is under way: it may hold slots, which it gives back at its end.
    bool under_way = false;
  };

  /// Has a request wait; its lane is looked at again.
  void push(core::lane_id lane, const planning::waiting& entry, end at,
            marks as);

  /// Takes a request out of whatever lane it waits in.
  void remove(core::request_id request, marks as);

  /// Counts one that waits in a lane as held up from now on.
  void hold_up(core::lane_id lane);

  /// These do what the functions of planning::lanes do.
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

  /// Returns those that are under way, by lane.
  const std::map<core::lane_id, uint32_t>& under_way() const;

  /// Returns those that are held up, by lane.
  const std::map<core::lane_id, uint32_t>& held_up() const;

  /// Whether some are held up in these lanes that can go on.
  bool delays_again(std::span<const core::lane_id> lanes) const;

  // -- what to look at again --------------------------------------------------

  void touch(core::lane_id lane);

  /// Has a lane looked at again where something waits in it.
  void touch_waiting(core::lane_id lane);

  /// Notes that the next one of a lane found no slot.
  void starve(core::lane_id lane);

  /// Has every lane whose next one found no slot looked at again.
  void feed();

  /// Returns a lane that is to be looked at, each once.
  std::optional<core::lane_id> next();

  // -- who takes more ---------------------------------------------------------

  /// Workers by their taken seats, the least loaded one first.
  using offers = std::set<std::pair<uint32_t, core::worker_id>>;

  /// Notes that a worker has a free seat for a lane; the lane is looked at
  /// again where something waits in it.
  void offer(core::lane_id lane, uint32_t taken, core::worker_id worker);

  /// @param taken as of the offer
  void withdraw(core::lane_id lane, uint32_t taken, core::worker_id worker);

  const offers& offered(core::lane_id lane) const;

  /// Returns the first invariant that does not hold; empty where all do.
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
