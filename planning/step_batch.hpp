// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/joining.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace atelier::planning {

/// Rows that can share a step are of one shape.
struct batch_shape {
  core::variant_id variant;
  core::extent px;

  friend auto operator<=>(const batch_shape&, const batch_shape&) = default;
};

/// One row of a worker, waiting or running.
struct batch_row {
  core::ticket who;
  batch_shape shape;
  /// Steps that it still has to run, at least 1.
  uint32_t steps_left = 1;
  core::priority prio = core::priority::normal;
  core::time_point deadline = core::never;
  core::tenant_id tenant = {};

  friend bool operator==(const batch_row&, const batch_row&) = default;
};

/// The next steps of a worker.
struct step_choice {
  /// Rows that run, in order of joining.
  std::vector<core::ticket> rows;
  /// Those of them that run for the first time.
  std::vector<core::ticket> joining;
  /// All can run this many steps before one of them ends.
  uint32_t steps = 0;

  friend bool operator==(const step_choice&, const step_choice&) = default;
};

/// Which rows of a worker share the next step: pure, no clock.
///
/// Rows of one shape run together, up to `max_batch`. Where rows of several
/// shapes or tenants wait, each tenant's of each shape take turns by deficit
/// round robin, so that none blocks another: each gets the same time of the
/// device, that of `turn_steps` steps of the cheapest, by what its steps were
/// measured to take. Whose step takes more than is left runs it all the same,
/// and gives turns up until it is paid for. What is not measured yet runs one
/// step beside what is. Within a turn: higher priority first, then the earlier
/// deadline, then arrival; a row that runs stays until it ends. A row that was
/// passed over `most_overtaken` times goes before those that were not.
///
/// Seats that a turn leaves free are others' of the same shape: of tenants that
/// have no more rows than it, and of all where their rows cost next to nothing,
/// as on a device that a small batch does not fill. Each pays for its rows.
///
/// While another tenant's rows were there of late, a turn's owner has no more
/// rows in a batch than it takes for a time per row within a tenth of the least
/// that was measured: who comes next waits for one step, and larger ones gain
/// little.
///
/// Where rows join by whole batches or one by one, a turn ends with its batch,
/// and tenants share it.
///
/// Source: Shreedhar and Varghese, Efficient Fair Queuing Using Deficit Round
/// Robin (SIGCOMM 1995); what is paid afterwards is surplus round robin.
///
/// Invariants: (1) a ticket is in it at most once; (2) a choice never mixes
/// shapes and never exceeds max_batch; (3) every row runs after finitely many
/// choices, whatever is added meanwhile.
class step_batch {
public:
  /// How often later rows may join before an earlier one of their shape.
  static constexpr uint32_t most_overtaken = 64;

  /// For how many choices it remembers that another tenant's rows were there.
  static constexpr uint32_t company_choices = 64;

  /// A `max_batch` or `turn_steps` of 0 counts as 1.
  explicit step_batch(uint32_t max_batch, joining join = joining::step,
                      uint32_t turn_steps = 4);

  /// Takes other bounds from the next choice on; rows that run stay. Turns
  /// begin anew where rows now join otherwise.
  void change(uint32_t max_batch, joining join);

  /// Adds a waiting row. False where its ticket is there already, or where it
  /// has no step to run.
  bool add(const batch_row& row);

  /// Takes a row out, waiting or running. False where it is not there.
  bool remove(core::ticket who);

  /// Returns the rows of the next run; no rows where nothing is there. Those
  /// that join count as running from now on.
  step_choice next();

  /// Notes that rows of the last choice ran `steps` steps in `took`, 0 where
  /// that is not known; returns those that ended, which are taken out.
  std::vector<core::ticket> ran(const std::vector<core::ticket>& rows,
                                uint32_t steps, core::timespan took = {});

  /// Whether to end the last choice at the next step: a waiting row could join
  /// then, or another shape now waits for its turn.
  bool wants_boundary() const;

  size_t size() const;

  /// Returns the row of `who`, valid until the next change; null if none.
  const batch_row* find(core::ticket who) const;

private:
  struct entry {
    batch_row row;
    /// Place among those that joined; 0: it waits.
    uint64_t joined = 0;
    uint32_t overtaken = 0;
  };

  /// Whose rows a turn runs.
  struct owner {
    batch_shape shape;
    core::tenant_id tenant;

    friend bool operator==(const owner&, const owner&) = default;
  };

  struct turn {
    owner of;
    /// What it may still run, in nanoseconds of the device; below 0: what it
    /// owes.
    double credit = 0;
    /// Of one step, of late; 0: not measured.
    double cost = 0;
  };

  static bool goes_before(const entry& a, const entry& b);

  owner owner_of(const batch_row& x) const;
  turn* turn_of(const owner& x);
  bool anything_runs() const;
  void take_out(std::vector<entry>::iterator at);
  double cheapest() const;
  double cost_of(const turn& x) const;
  double quantum() const;
  void charge(turn& x, uint32_t steps, core::timespan took);
  void take_turns();
  std::vector<entry*> running(const owner& of);
  std::vector<entry*> let_join(const owner& of, size_t seats);
  void add_rows(const owner& of, size_t most, step_choice& to,
                std::vector<entry*>& rows);
  void add_passengers(step_choice& to, std::vector<entry*>& rows);
  bool rides_free(const batch_shape& of, size_t own, size_t all) const;
  bool has_company() const;
  size_t rows_of(const owner& of) const;
  /// Most rows of one owner in a choice, where it has so many.
  size_t row_bound(const batch_shape& of, size_t there) const;
  /// Nanoseconds of a step for each of so many rows, or of up to twice as many;
  /// 0: not measured.
  double time_per_row(const batch_shape& of, size_t rows) const;
  /// Nanoseconds of a step of so many rows; 0: not measured.
  double step_of(const batch_shape& of, size_t rows) const;
  void learn(const batch_shape& of, size_t rows, uint32_t steps,
             core::timespan took);

  /// In order of arrival.
  std::vector<entry> entries_;
  /// The owners of all entries, each once; the first one has the turn.
  std::vector<turn> turns_;
  /// Nanoseconds of a step by shape and number of rows, of late.
  std::map<batch_shape, std::map<size_t, double>> step_of_;
  uint32_t max_batch_;
  joining join_;
  uint32_t turn_steps_;
  uint64_t joins_ = 0;
  /// For so many more choices it counts as shared by tenants.
  uint32_t company_ = 0;
  /// Whether the last choice ends with its turn.
  bool ends_with_turn_ = false;
};

} // namespace atelier::planning
