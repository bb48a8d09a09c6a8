// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/joining.hpp>
#include <atelier/planning/share_lead.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace atelier::planning {

/// The shape of a row; rows of one shape can share a step.
struct batch_shape {
  /// The first variant with the row's weights (grouping.hpp).
  core::variant_id weights;
  core::extent px;

  friend auto operator<=>(const batch_shape&, const batch_shape&) = default;
};

/// One row of a worker, waiting or running.
struct batch_row {
  core::ticket ticket;
  batch_shape shape;
  core::variant_id variant;
  /// The number of steps left to run, at least 1.
  uint32_t steps_left = 1;
  core::priority prio = core::priority::normal;
  core::time_point deadline = core::never;
  core::tenant_id tenant = {};
  /// The tenant's share of the worker (core::most_share); 0 counts as 1.
  uint32_t share = 1;

  friend bool operator==(const batch_row&, const batch_row&) = default;
};

/// The next steps of a worker.
struct step_choice {
  /// The rows that run, in order of joining.
  std::vector<core::ticket> rows;
  /// The rows among them that run for the first time.
  std::vector<core::ticket> joining;
  /// The number of steps that all can run before one of them ends.
  uint32_t steps = 0;

  friend bool operator==(const step_choice&, const step_choice&) = default;
};

/// Decides which rows of a worker share the next step. Pure, without a clock.
///
/// Rows of one shape run together, up to `max_batch`, whatever number of steps
/// each has left. If rows of several shapes
/// or tenants wait, the rows of each tenant and shape take turns by start-time
/// fair queueing, so that none blocks another: the turn goes to the tenant that
/// had the least time of the device for its share, and to its shape that had
/// the least. A tenant with a larger share has a lead, so that it need not wait
/// for all tenants that had as little when it arrives: for its share, the time
/// of a turn, less the least share as a part of its own. A turn lasts for the
/// time of `turn_steps` steps of the cheapest, by the measured time of its
/// steps. A turn whose step takes more than its remaining time runs the step
/// all the same, and its owner pays for it. A turn ends earlier for a tenant of
/// a larger share that is due before it. A tenant or shape that arrives begins
/// with the least time of those with rows, a little later while others arrive
/// without a break, or with its own time when it left, if that is more. If some
/// turns are measured and one is not, that one runs a single step. Within a
/// turn, higher priority runs first, then the earlier deadline, then the
/// earlier arrival; a running row stays until it ends. A row that was overtaken
/// `most_overtaken` times runs before rows that were not.
///
/// The seats that a turn leaves free are filled with other rows of the same
/// shape: those of tenants that have no more rows for their share than it, and
/// those of all tenants if their rows add almost no cost, as on a device that a
/// small batch does not fill. Each tenant pays for its rows.
///
/// If rows of another tenant were present recently, a batch holds no more rows
/// of the turn's owner than are needed for a time per row within a tenth of the
/// measured minimum: the next tenant's rows wait for one step, and larger
/// batches gain little. If rows of a tenant with a larger share than the
/// owner's were present recently, a step of the batch, with those that ride
/// along, lasts for at most two steps of a single row, by measured times.
///
/// If rows join by whole batches or one by one, a turn ends with its batch, and
/// tenants share it. Its rows are of one variant then: no row takes the seat of
/// a shorter one that has ended.
///
/// Source: Goyal, Vin and Cheng, Start-time Fair Queuing (SIGCOMM 1996), for
/// tenants and, within each, for shapes.
///
/// Invariants: (1) it holds a ticket at most once; (2) a choice never mixes
/// shapes and never exceeds max_batch; (3) every row runs after finitely many
/// choices, whatever is added meanwhile.
class step_batch {
public:
  /// How often later rows may join before an earlier one of their shape.
  static constexpr uint32_t most_overtaken = 64;

  /// The number of choices for which it remembers that rows of another tenant
  /// were present.
  static constexpr uint32_t company_choices = 64;

  /// The number of choices of a shape after which a size of its batches that
  /// was not run meanwhile is tried again: one slow step says little.
  static constexpr uint32_t measured_choices = 512;

  /// A `max_batch` or `turn_steps` of 0 counts as 1.
  explicit step_batch(uint32_t max_batch, joining join = joining::step,
                      uint32_t turn_steps = 4);

  /// Sets other bounds for all later choices; running rows stay. Turns start
  /// again if the change switches to or from joining between steps.
  void change(uint32_t max_batch, joining join);

  /// Adds a waiting row. Returns false if its ticket is already present, or if
  /// it has no step to run.
  bool add(const batch_row& row);

  /// Removes a waiting or running row. Returns false if it is not found.
  bool remove(core::ticket who);

  /// Returns the rows of the next run; no rows if it is empty. The rows that
  /// join count as running afterwards.
  step_choice next();

  /// Sets the number of steps that a row has left, at least 1: its device knows
  /// it better than the order for it. Returns false if it is not found.
  bool set_left(core::ticket who, uint32_t steps);

  /// Notes that rows of the last choice ran `steps` steps in `took`, or 0 if
  /// that is unknown. Returns the rows that ended, which are removed.
  [[nodiscard]] std::vector<core::ticket> ran(
    const std::vector<core::ticket>& rows, uint32_t steps,
    core::timespan took = {});

  /// Returns whether to end the last choice at the next step: a waiting row
  /// could join then, or another shape now waits for its turn.
  bool wants_boundary() const;

  size_t size() const;

  /// Returns the row of `who`, valid until the next change; null if none.
  const batch_row* find(core::ticket who) const;

private:
  struct entry {
    batch_row row;
    /// The position in the order of joining; 0: it waits.
    uint64_t joined = 0;
    uint32_t overtaken = 0;
  };

  /// The owner of the rows that a turn runs.
  struct owner {
    batch_shape shape;
    /// 0 if rows join between steps.
    core::variant_id variant;
    core::tenant_id tenant;

    friend bool operator==(const owner&, const owner&) = default;
  };

  struct turn {
    owner of;
    /// The nanoseconds of the device that it had, as far as the shapes of a
    /// tenant are compared by them.
    double used = 0;
    /// The recent time of one step, in nanoseconds; 0: not measured.
    double cost = 0;
  };

  /// What a tenant had of the device.
  struct account {
    core::tenant_id whose;
    double share = 1;
    /// Nanoseconds divided by the share.
    double used = 0;
    /// The time with which its shapes begin that arrive.
    double floor = 0;
  };

  /// The time that an owner without rows had when it left.
  struct departure {
    owner of;
    double used = 0;
  };

  /// A step of a shape and a number of rows.
  struct measured {
    /// Nanoseconds, recent ones.
    double took = 0;
    /// The choice of its shape that was measured last.
    uint64_t at = 0;
  };

  struct shape_times {
    /// Choices whose size was bounded.
    uint64_t choices = 0;
    std::map<size_t, measured> by_rows;
  };

  static bool goes_before(const entry& a, const entry& b);

  owner owner_of(const batch_row& x) const;
  turn* turn_of(const owner& x);
  bool anything_runs() const;
  void take_out(std::vector<entry>::iterator at);
  double cheapest() const;
  double cost_of(const turn& x) const;
  double quantum() const;
  share_lead lead() const;
  double until_overtaken() const;
  void charge(turn& x, uint32_t steps, core::timespan took);
  void take_turns();
  void begin_turn();
  void enter(const batch_row& row);
  void advance(double nanoseconds, core::tenant_id whose);
  void raise_floors();
  void forget_departures();
  bool has_rows(core::tenant_id whose) const;
  account& account_of(core::tenant_id whose);
  const account& account_of(core::tenant_id whose) const;
  std::vector<entry*> running(const owner& of);
  std::vector<entry*> let_join(const owner& of, size_t seats);
  void add_rows(const owner& of, size_t most, step_choice& to,
                std::vector<entry*>& rows);
  void add_passengers(step_choice& to, std::vector<entry*>& rows);
  bool rides_free(const batch_shape& of, size_t own, size_t all) const;
  bool has_company() const;
  void note_favour();
  size_t rows_of(const owner& of) const;
  /// Counts a choice of a shape, unless its owner has the largest share: then
  /// no size of others is tried.
  void count_choice(const owner& of);
  /// Returns the maximum number of rows of one owner in a choice, if the owner
  /// has `there` rows.
  size_t row_bound(const batch_shape& of, size_t there) const;
  /// Returns the maximum number of rows of all owners in the turn of one with
  /// this tenant.
  size_t favoured_bound(const batch_shape& of, core::tenant_id whose,
                        size_t there) const;
  /// Returns the nanoseconds of a step per row in a batch of `rows` rows, or of
  /// fewer than twice as many; 0: not measured, or too long ago.
  double time_per_row(const batch_shape& of, size_t rows) const;
  /// Returns the nanoseconds of a step of `rows` rows; 0: not measured.
  double step_of(const batch_shape& of, size_t rows) const;
  void learn(const batch_shape& of, size_t rows, uint32_t steps,
             core::timespan took);

  /// In order of arrival.
  std::vector<entry> entries_;
  /// The owners of all entries, each once; the first one has the turn.
  std::vector<turn> turns_;
  /// The remaining time of the first one's turn, in nanoseconds.
  double left_ = 0;
  /// The accounts of tenants with rows, and of tenants without that had more
  /// than one with.
  std::vector<account> accounts_;
  /// The owners without rows that had more than one of the same tenant with
  /// rows.
  std::vector<departure> departed_;
  /// The time, divided by the share, with which tenants begin that arrive.
  double floor_ = 0;
  std::map<batch_shape, shape_times> step_of_;
  uint32_t max_batch_;
  joining join_;
  uint32_t turn_steps_;
  uint64_t joins_ = 0;
  /// The number of further choices for which it counts as shared by tenants.
  uint32_t company_ = 0;
  /// The number of further choices for which the largest share of those that
  /// differed counts as present, and that share.
  uint32_t favour_ = 0;
  double favoured_share_ = 0;
  /// The last choice ends with its turn.
  bool ends_with_turn_ = false;
  /// The time until it ends because of a larger share, in nanoseconds.
  double ends_at_ = 0;
};

} // namespace atelier::planning
