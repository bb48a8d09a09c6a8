// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/active_tenants.hpp>
#include <atelier/actors/scheduler/row.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/fair_shares.hpp>

#include <boost/container/flat_set.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace atelier::actors {

/// Holds the rows of requests, the bounds on accepted requests, and when each
/// is due. This part of the scheduler has no worker, no queue and no slot. Only
/// `end` commits a row's end.
///
/// Invariants (see check): rows that have not ended are counted, with their
/// bytes; each row that is due is found by its time.
/// Threads: one at a time.
class requests {
public:
  explicit requests(core::limits limits);

  // -- rows -------------------------------------------------------------------

  /// Returns why a request exceeds the bounds, given those that have not ended.
  /// A tenant below its fair share of a bound may exceed it: see
  /// planning::is_granted.
  std::optional<core::error> too_much(const core::request& x) const;

  /// No request is accepted from now on.
  void stop();

  /// Whether no more requests are accepted.
  bool stopping() const;

  /// Creates a request's row.
  /// @pre no row has that number
  row& accept(std::shared_ptr<const core::request> what);

  /// Sets a row's terminal state; it is no longer due and no longer counted.
  /// @pre it has not ended; `as` is terminal
  void end(row& r, row_state as);

  /// Makes a row ask for facts; and makes one that asks, or whose route could
  /// not be followed, wait for a route.
  void ask(row& r);
  void stop_asking(row& r);

  /// Makes a row wait in a queue.
  void wait(row& r, core::time_point now);

  /// Makes a row run by its next dispatch.
  void run(row& r);

  /// Counts a dispatch that does not move the row.
  void count_aside(row& r);

  /// Forgets a row.
  /// @pre it has ended
  void forget(core::request_id id);

  /// Returns a request's row; null if it has none.
  row* find(core::request_id id);
  const row* find(core::request_id id) const;

  /// @pre the row exists
  row& at(core::request_id id);
  const row& at(core::request_id id) const;

  /// Returns the row that runs by this dispatch; null if none does now.
  row* running(core::ticket dispatch);

  /// Returns the row whose last dispatch this is; null if it has none.
  const row* last(core::ticket dispatch) const;

  const std::unordered_map<core::request_id, row>& all() const;

  /// Returns the number of rows that have not ended.
  size_t open() const;

  /// Returns whether a tenant has fewer such rows than the mean of those that
  /// have some.
  bool is_below_mean(core::tenant_id whose) const;

  /// Returns the tenants that are active at the time that was set last.
  const active_tenants& tenants() const;
  void set_time(core::time_point now);
  /// Forgets tenants that departed, and returns whether there were any.
  bool forget_departed();

  // -- times ------------------------------------------------------------------

  /// Makes a row expire at another time.
  void set_due(row& r, core::time_point due);

  /// Returns the row that is due first, if it is due now.
  std::optional<core::request_id> due(core::time_point now) const;

  /// Whether any row is due at some time.
  bool timed() const;

  // -- rows prepared ahead ----------------------------------------------------

  /// Counts a tenant's row that is prepared, or being prepared, and that no
  /// device took yet; or stops counting it.
  void count_ahead(core::tenant_id whose, bool comes);

  /// Whether a tenant has such rows; whether any named tenant has.
  bool has_ahead(core::tenant_id whose) const;
  bool named_ahead() const;

  /// Returns the named tenants that have such rows, sorted.
  boost::container::flat_set<core::tenant_id> with_ahead() const;

  /// Whether rows are prepared for considerably more than all devices' seats,
  /// so that another row of this tenant must wait.
  bool far_ahead(core::tenant_id whose, uint32_t device_seats) const;

  /// Returns the tenants with rows ahead for which that holds, sorted.
  std::vector<core::tenant_id> far_ahead(uint32_t device_seats) const;

  /// Returns the first invariant that does not hold; empty if all hold.
  std::string check() const;

private:
  using times = std::set<std::pair<core::time_point, core::request_id>>;

  core::limits limits_;
  bool stopping_ = false;
  std::unordered_map<core::request_id, row> rows_;
  times deadlines_;
  uint32_t ahead_ = 0;
  /// Only tenants that have such rows.
  std::map<core::tenant_id, uint32_t> ahead_of_;
  // What the rows that have not ended hold: bytes, and themselves.
  planning::fair_shares texts_;
  planning::fair_shares sources_;
  planning::fair_shares open_;
  active_tenants active_;
};

} // namespace atelier::actors
