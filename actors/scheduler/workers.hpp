// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/local_messages.hpp>
#include <atelier/actors/messages.hpp>
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

/// The scheduler's record of a worker.
struct worker {
  worker_address address;
  /// Name of its device; empty for CPU pools.
  std::string device;
  uint32_t seats = 1;
  uint32_t run_steps = 1;
  planning::worker_view view;
  std::vector<core::lane_id> serves;
  /// Its dispatches, oldest first.
  std::vector<core::ticket> has;
  std::vector<core::ticket> batch;
  /// On the scheduler's running clock.
  core::time_point last_sign;
  /// Longest silence that its present work explains.
  core::timespan allowance{0};
  /// Takes no more work until it is empty: a row waits to run alone here.
  bool draining = false;
  /// The variants that the plan assigns to it, until it hosts them: meanwhile
  /// it takes no work and shows no hosting.
  std::optional<std::vector<core::variant_id>> next_hosting;
  /// Variants that it is ordered to unload when it is not loading.
  std::vector<core::variant_id> leaving;
  /// Whether it can load beside its rows; and whether it does so now.
  bool loads_beside = false;
  bool beside = false;
  /// Number of its last `adopt`; loading until that is answered.
  uint32_t adopts = 0;
  bool loading = false;
  core::time_point load_began;
  /// Maximum rows of a batch, and how rows join, by the plan.
  uint32_t most_rows = 0;
  planning::joining join = planning::joining::step;
  std::vector<core::lane_id> also_serves;
  /// Its batch is filled in this event, and sent at its end.
  bool filling = false;
  std::vector<denoise> joining;
  /// A row runs alone here.
  bool exclusive = false;
  bool suspected = false;
  /// It takes several times as long as the others: plans leave it out, and it
  /// gets only rows whose queue no other worker serves.
  bool slow = false;
  bool told = false;
  /// It lost an order twice: its process is replaced, and no request is to
  /// blame for that.
  bool loses_orders = false;

  /// Whether it runs on a device; otherwise it belongs to a CPU pool.
  bool on_device() const {
    return address.role == role::denoise_step;
  }

  bool does_serve(core::lane_id lane) const;
};

/// Tracks the workers: seats, hosting, the lives of processes, and the views of
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
  bool others_serve(core::lane_id lane) const;

  /// Whether a worker that is not suspected serves a queue.
  bool anyone_serves(core::lane_id lane) const;

  // -- seats ------------------------------------------------------------------

  /// Whether a worker may be given another row now.
  static bool takes_more(const worker& w);

  /// Gives a dispatch of `steps` steps a seat.
  /// @pre one is free
  static void sit(worker& w, core::ticket who, uint64_t steps);

  /// @param steps number of its steps that are left
  static void stand_up(worker& w, core::ticket who, uint64_t steps);

  /// Calls f with every worker that a suspect at `w` has to itself.
  void each_beside(const worker& w, const std::function<void(worker&)>& f);

  /// Makes a pool's worker take part in a trial that may be under way there.
  void join_trial(worker& w) const;

  // -- hosting ----------------------------------------------------------------

  /// Returns the next order to a worker; without hosting it keeps what it has.
  static adopt order_for(worker& w, std::vector<core::variant_id> hosting);

  /// Returns the queues that a worker of a device serves.
  static std::vector<core::lane_id> lanes_of(const worker& w);

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
