// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/row.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace atelier::actors {

/// The rows of requests, the bounds on what is accepted, and when each is due.
/// A part of the scheduler: no worker, no queue, no slot. A row's end is
/// committed by `end` alone.
///
/// Invariants (see check): rows that have not ended are counted, with their
/// bytes; each that is due, or asks for facts, is found by its time.
/// Threads: one at a time.
class requests {
public:
  explicit requests(core::limits limits);

  // -- rows -------------------------------------------------------------------

  /// Returns why a request is too much beside those that have not ended.
  std::optional<core::error> too_much(const core::request& x) const;

  /// Makes a request's row.
  /// @pre there is none of that number
  row& accept(std::shared_ptr<const core::request> what);

  /// Sets a row's terminal state; it is due no more, asks for nothing and
  /// counts no more.
  /// @pre it has not ended; `as` is terminal
  void end(row& r, row_state as);

  /// Forgets a row.
  /// @pre it has ended
  void forget(core::request_id id);

  /// Returns a request's row; null: there is none.
  row* find(core::request_id id);
  const row* find(core::request_id id) const;

  /// @pre there is one
  row& at(core::request_id id);
  const row& at(core::request_id id) const;

  /// Returns the row that runs by this dispatch; null: none does any more.
  row* running(core::ticket dispatch);

  /// Returns the row whose last dispatch this is; null: there is none.
  const row* last(core::ticket dispatch) const;

  const std::unordered_map<core::request_id, row>& all() const;

  /// Returns how many have not ended.
  size_t open() const;

  // -- times ------------------------------------------------------------------

  /// Has a row expire at another time.
  void set_due(row& r, core::time_point due);

  /// Has a row ask for facts until a time.
  void ask(row& r, core::time_point until);

  /// Has a row that asks wait for a route.
  void stop_asking(row& r);

  /// Returns the row that is due first, if it is so now; likewise the one whose
  /// patience for facts ended.
  std::optional<core::request_id> due(core::time_point now) const;
  std::optional<core::request_id> patience_over(core::time_point now) const;

  /// Whether any row has such a time.
  bool timed() const;

  // -- what is prepared ahead -------------------------------------------------

  /// Counts a row of a tenant that is prepared, or being prepared, and that no
  /// device took yet; or one no more.
  void count_ahead(core::tenant_id whose, bool comes);

  /// Whether a tenant has such rows; whether any that is named has.
  bool has_ahead(core::tenant_id whose) const;
  bool named_ahead() const;

  /// Whether rows are prepared for all of the devices' seats and more, so that
  /// another one of this tenant's waits.
  bool far_ahead(core::tenant_id whose, uint32_t device_seats) const;

  /// Returns the first invariant that does not hold; empty where all do.
  std::string check() const;

private:
  using times = std::set<std::pair<core::time_point, core::request_id>>;

  core::limits limits_;
  std::unordered_map<core::request_id, row> rows_;
  times deadlines_;
  /// By the end of their patience.
  times asking_;
  uint32_t ahead_ = 0;
  /// Only tenants that have some.
  std::map<core::tenant_id, uint32_t> ahead_of_;
  uint64_t text_bytes_ = 0;
  uint64_t source_bytes_ = 0;
  size_t open_ = 0;
};

} // namespace atelier::actors
