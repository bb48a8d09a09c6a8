// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/local_messages.hpp>
#include <atelier/actors/messages.hpp>
#include <atelier/actors/scheduler/failed_loads.hpp>
#include <atelier/actors/scheduler/worker.hpp>
#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace atelier::actors {

/// Decides what workers host: it follows plans, orders loads, and knows what
/// devices could not load. A worker loads new variants beside its running rows
/// if it can, otherwise when all rows have ended. This part of the scheduler
/// has no row, no queue and no slot.
///
/// Invariant: a worker loads once at a time.
/// Threads: one at a time.
class hosting {
public:
  /// @param join overrides how plans let rows join batches; none: no override
  hosting(std::shared_ptr<const planning::profile> known,
          std::optional<planning::joining> join);

  /// The effects of an event outside the worker's `hosted`.
  struct change {
    std::vector<adopt> orders;
    /// The worker's hosting, or its queues, changed.
    bool members = false;
    /// The requests in its own queue must be placed anew.
    bool rehome = false;
    /// A row that waited to run alone there waits no longer.
    bool ends_drain = false;
    /// Loads to count: those without rows when they begin, others when they
    /// end.
    uint32_t loads = 0;
    /// The planner must know.
    bool report = false;
    /// A variant that was loaded by itself, and the time that it took.
    std::optional<std::pair<core::variant_id, core::timespan>> loaded;
  };

  // -- changes of a worker ----------------------------------------------------

  /// A device joined.
  /// @param failed what it could not load at its start
  change joined(worker& w, std::span<const gpu::load_failure> failed,
                core::time_point now);

  /// Follows the plan's assignment to a device.
  /// @param running the variants that its rows run
  change apply(worker& w, const planning::assignment& x,
               std::span<const core::variant_id> running, core::time_point now);

  /// A device answered its last order. Returns nothing if that loads nothing.
  /// @pre the answer has the number of that order
  std::optional<change> adopted(worker& w, const actors::adopted& x,
                                core::time_point now);

  /// A row of a worker ended.
  change row_ended(worker& w, core::time_point now);

  /// A device's process died.
  void died(worker& w, death cause, core::time_point now);

  // -- loads that failed ------------------------------------------------------

  /// Whether a worker's death is blamed on its loading, not on its rows.
  static bool blames_load(const worker& w, death cause);

  std::vector<gpu::load_failure> failures_at(const worker& w) const;

  /// Makes the next attempts at a variant due now.
  void hurry(core::variant_id variant, core::time_point now);

  /// Ends the pauses that are over, and returns their places and variants.
  std::vector<failed_loads::key> retries(core::time_point now);

  /// Shows which variants a device may load again. Returns whether that
  /// changed.
  bool retry(worker& w, change& into);

  /// Whether any pause has not ended.
  bool waits() const;

  /// Returns when a variant may be loaded again where it failed; none: it may
  /// now.
  std::optional<core::time_point> retried_at(core::variant_id v) const;

  /// Returns why a variant is not loaded where it failed.
  /// @pre it may not be loaded there now
  core::error why_not_loaded(core::variant_id v) const;

  // -- variants without a host ------------------------------------------------

  /// Workers, or their hosting, changed.
  void changed();

  /// Returns whether that happened since the last call. If so, hosts are sought
  /// anew for all queues.
  bool take_change();

  /// Begins to seek a host for the requests of a queue. Returns false if one
  /// was sought since the last change.
  bool begin_search(core::queue_id queue);

  /// Requests wait for a variant that no worker hosts or will host.
  void missing(core::variant_id v);

  /// Requests found no seat under a plan that groups them.
  void crowded();

  /// Returns the variants without a host that were not reported to planners
  /// yet; nothing if there is no news, and no variant if the news is that
  /// requests found no seat, and not as many waited before.
  /// @param waiting the number of requests that wait
  std::optional<std::vector<core::variant_id>> tell(size_t waiting,
                                                    bool grouped);

private:
  adopt order_for(hosted& h, std::vector<core::variant_id> what) const;
  void serve(worker& w) const;
  void send_away(worker& w, const std::vector<core::variant_id>& leaving,
                 change& into) const;
  void unload(worker& w, change& into) const;
  void host(worker& w, std::vector<core::variant_id> what,
            std::span<const core::variant_id> running, core::time_point now,
            change& into) const;
  void drain_and_load(worker& w, bool loads, core::time_point now,
                      change& into) const;
  void begin_load(worker& w, core::time_point now, change& into) const;
  void adopted_beside(worker& w, const actors::adopted& x, core::time_point now,
                      change& into);
  std::vector<core::variant_id> loadable(
    const worker& w, const std::vector<core::variant_id>& what) const;
  void load_failed(const worker& w, core::variant_id v, core::error why,
                   core::time_point now);
  void note_loads(worker& w, std::span<const gpu::load_failure> failed,
                  core::time_point now, change& into);
  void note_time(const worker& w, const actors::adopted& x,
                 core::time_point now, change& into) const;
  void show_unloadable(worker& w, change& into) const;

  std::shared_ptr<const planning::profile> known_;
  std::optional<planning::joining> join_;
  failed_loads failed_;
  /// Queues for which a host was sought since hosting changed.
  std::set<core::queue_id> sought_;
  bool changed_ = false;
  std::vector<core::variant_id> unhosted_;
  bool crowded_ = false;
  /// How many requests waited when the last crowd was reported.
  size_t reported_waiting_ = 0;
};

/// Returns a device's place, the same in every life of its process.
device_place device_at(const worker& w);

} // namespace atelier::actors
