// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/forecast.hpp>
#include <atelier/actors/scheduler/hosting.hpp>
#include <atelier/actors/scheduler/orders.hpp>
#include <atelier/actors/scheduler/queues.hpp>
#include <atelier/actors/scheduler/requests.hpp>
#include <atelier/actors/scheduler/rules.hpp>
#include <atelier/actors/scheduler/slot_shares.hpp>
#include <atelier/actors/scheduler/suspicions.hpp>
#include <atelier/actors/scheduler/views.hpp>
#include <atelier/actors/scheduler/workers.hpp>
#include <atelier/actors/stage_path.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/queues.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace atelier::actors {

/// Finds which row goes to which worker. It reads parts of the scheduler and
/// changes none, but for views, which are made when they are read.
/// Threads: one at a time.
class matching {
public:
  /// The parts that it reads.
  struct parts {
    const stage_path& path;
    const actors::rules& rules;
    const actors::requests& requests;
    const actors::orders& orders;
    const actors::workers& workers;
    const actors::queues& queues;
    const actors::suspicions& suspicions;
    const actors::hosting& hosting;
    const slot_shares& shares;
    const actors::forecast& forecast;
    const actors::views& views;
  };

  /// @param known the profile of the server
  /// @pre the parts outlive it
  matching(parts of, const planning::profile& known);

  // -- a row ------------------------------------------------------------------

  /// Returns the queue in which a row waits for its stage.
  core::queue_id queue_of(const row& r) const;

  planning::waiting entry_of(const row& r) const;

  // -- a row for a worker -----------------------------------------------------

  /// Returns the tenants that may take no seat of a worker for a queue now,
  /// sorted.
  std::vector<core::tenant_id> closed_to(const worker& w,
                                         core::queue_id queue) const;

  /// Returns these and the named tenants that have rows at the worker: the
  /// others have none there, and may be behind the first rows.
  std::vector<core::tenant_id> closed_to_crowd(
    const worker& w, std::vector<core::tenant_id> closed) const;

  /// Whether a worker may take no row because enough are prepared already.
  static bool is_bounded(const worker& w);

  /// Returns the first rows of these queues that a worker may take, best first.
  std::vector<planning::waiting> next_rows(
    std::span<const core::queue_id> from, const worker& w,
    std::span<const core::tenant_id> without, core::time_point now) const;

  /// Calls `dispatch` with the rows of these queues that are under way and may
  /// continue although the next one of the queue must wait for slots, until it
  /// returns true: such a row may hold slots, which it frees only at its end.
  /// At devices, rows in their first leg wait for their turn while anything
  /// runs. Returns whether it returned true.
  bool any_under_way(
    std::span<const core::queue_id> served, const worker& w,
    const std::function<bool(core::request_id)>& dispatch) const;

  // -- a worker for a row -----------------------------------------------------

  /// Returns the worker for the next row of a queue: the least loaded one if
  /// its batch has a place and all devices are of one kind, otherwise the one
  /// of the least loaded that would end the row first. Nothing if each that is
  /// offered was tried.
  std::optional<core::worker_id> choose_worker(
    core::queue_id queue, core::time_point now,
    std::span<const core::worker_id> passed) const;

  /// Chooses under a plan that groups rows; nothing if the queue's next row
  /// waits.
  std::optional<core::worker_id> seat_in_group(core::queue_id queue,
                                               core::time_point now) const;

  /// Returns the queues of a worker whose rows can join those of `queue`.
  std::vector<core::queue_id> queues_beside(core::queue_id queue,
                                            const worker& w) const;

  /// Returns how long a worker may give no sign of life for a row.
  core::timespan silence_of(const row& r, const worker& w) const;

  /// Returns what a worker's report of steps says of the variants that it ran;
  /// nothing if none of its rows is known.
  std::optional<steps_run> run_of(const worker& w, const stepped& x) const;

  // -- variants that devices could not load -----------------------------------

  /// Returns why no worker hosts, will host or can load any variant of a leg;
  /// nothing if one does, or may.
  std::optional<core::error> unloadable(const planning::leg& x) const;

  /// Returns such a reason if it holds for each leg with which a route can
  /// begin; nothing if one of them can run.
  std::optional<core::error> unloadable(const planning::route& x) const;

  // -- rows that run alone ----------------------------------------------------

  /// Returns the suspect of a queue that was tried least, preferring those for
  /// which slots are available.
  core::request_id next_suspect(core::queue_id queue,
                                core::time_point now) const;

  /// Whether a suspect could be prepared or finished now.
  bool has_room_for(const row& r) const;

  /// Where a suspect may run alone.
  struct trial_choice {
    /// The worker that is, or will be, kept for it; nothing: none can.
    std::optional<core::worker_id> at;
    /// Another suspect runs there.
    bool busy = false;
    /// A trial would delay requests again that were delayed before, at these
    /// workers.
    std::vector<core::worker_id> delays;
  };

  /// Chooses for the suspects of a device's queue.
  trial_choice device_for_trial(core::queue_id queue) const;

  /// Chooses for a suspect that a pool prepares or finishes.
  trial_choice pool_for_trial(const row& r) const;

  /// Whether a worker is silent because its device does what its other worker
  /// was ordered, which is watched instead.
  bool waits_for_other(const worker& w) const;

  /// Returns the orders on which workers were working when their process died.
  std::vector<core::ticket> worked_on(std::span<const core::worker_id> gone,
                                      death cause) const;

private:
  std::optional<core::error> unloadable(core::variant_id v) const;
  core::variant_id weights_of(core::variant_id v) const;
  bool waits_for_quicker(const planning::waiting& x, const worker& w,
                         core::time_point now) const;

  parts of_;
  const planning::profile& known_;
  /// By variant, the first one with the same weights.
  std::vector<core::variant_id> weights_;
};

/// Returns the work that is left for a row.
work_left rest_of(const row& r);

/// Number of rows of a pool's queue that are searched for another tenant's.
inline constexpr size_t looked_at = 4;

} // namespace atelier::actors
