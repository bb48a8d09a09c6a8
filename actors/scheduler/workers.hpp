// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/actors/scheduler/worker.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/ipc/keeper.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace atelier::actors {

/// Tracks the workers: who exists, the lives of processes, and the views of
/// policies. This part of the scheduler knows dispatches by their tickets; it
/// has no row, no queue and no slot.
///
/// Invariants (see check): a worker's taken seats are its dispatches, at most
/// its seats; it is found by its address.
/// Threads: one at a time.
class workers {
public:
  // -- joining and leaving ----------------------------------------------------

  /// Adds a worker that announced itself; returns null if it is already known,
  /// has no seats, or its life is over.
  worker* announce(const worker_ready& x, const planning::profile& known,
                   core::time_point now);

  /// Refuses workers of this life, and of earlier ones, from now on: the keeper
  /// grants them nothing.
  void bury(ipc::process_life who);

  /// Returns a process's workers.
  std::set<core::worker_id> of(ipc::process_life who) const;

  /// @pre the worker exists
  void remove(core::worker_id id);

  // -- looking them up --------------------------------------------------------

  worker* find(const worker_address& where);
  worker* find(core::worker_id id);
  const worker* find(core::worker_id id) const;

  /// @pre the worker exists
  worker& at(core::worker_id id);
  const worker& at(core::worker_id id) const;

  std::map<core::worker_id, worker>& all();
  const std::map<core::worker_id, worker>& all() const;

  /// Returns the total seats of all devices.
  uint32_t device_seats() const;

  /// Whether policies do not see a worker because it is slow. They see it if no
  /// other is left.
  bool left_out(const worker& w) const;

  /// Whether policies see a worker.
  bool is_seen(const worker& w) const;

  /// Whether a worker that is not slow serves a queue.
  bool others_serve(core::queue_id queue) const;

  /// Whether a worker that is not suspected serves a queue.
  bool anyone_serves(core::queue_id queue) const;

  /// Returns the other worker of its device: the one of stages beside that of
  /// steps, or the reverse; null if it has none.
  const worker* beside(const worker& w) const;
  worker* beside(worker& w);

  /// Whether a worker may be given another row now. A row that runs alone, or
  /// waits for that, has the whole device.
  bool takes_more(const worker& w) const;

  // -- changes of workers -----------------------------------------------------

  /// Its process may be dead.
  void suspect(worker& w);

  /// Notes whether a device is slow compared with others.
  void set_slow(worker& w, bool slow);

  /// Counts a request that enters or leaves a worker's own queue.
  void count_waiting(core::worker_id id, bool comes);

  /// Calls f with every worker that a suspect at `w` has to itself.
  void each_beside(const worker& w, const std::function<void(worker&)>& f);

  // -- views of policies ------------------------------------------------------

  /// The view of a worker changed.
  void view_changed(const worker& w);

  /// The workers, their hosting or their reported facts changed.
  void members_changed();

  /// Updates `seen`: `view(worker, into)` writes a worker's view over its last
  /// one, whose memory it keeps. If only a few views changed, it asks only for
  /// those, since policies look for every request. Returns whether it asked for
  /// all.
  template <class F>
  bool look(const F& view) const {
    if (!members_changed_ && outdated_.empty())
      return false;
    const bool all = std::exchange(members_changed_, false);
    if (all) {
      seen_.workers.clear();
      for (const auto& [id, w] : all_)
        if (is_seen(w))
          view(w, seen_.workers.emplace_back());
    } else {
      for (const auto id : outdated_)
        if (auto* const last = seen_view(id))
          view(all_.at(id), *last);
    }
    outdated_.clear();
    return all;
  }

  /// Returns the views of policies, as of the last `look`.
  const planning::cluster_view& seen() const;

  /// Makes policies see these costs.
  void show(std::vector<planning::kind_costs> costs);

  /// Returns the first invariant that does not hold; empty if all hold.
  std::string check() const;

private:
  /// Returns the same by the address.
  worker* find_beside(const worker& w);
  /// Makes a pool's worker take part in a trial that may be under way there.
  void join_trial(worker& w) const;
  /// Returns the last view of a worker; null if policies do not see it.
  planning::worker_view* seen_view(core::worker_id id) const;

  std::map<core::worker_id, worker> all_;
  std::map<worker_address, core::worker_id> addresses_;
  uint32_t next_ = 1;
  uint32_t device_seats_ = 0;
  /// The last life suspected or known to be over, by process.
  std::map<core::process_id, core::incarnation> buried_;
  mutable planning::cluster_view seen_;
  mutable std::vector<core::worker_id> outdated_;
  mutable bool members_changed_ = false;
};

} // namespace atelier::actors
