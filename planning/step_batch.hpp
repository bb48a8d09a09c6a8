// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/plan.hpp>

#include <cstddef>
#include <cstdint>
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
/// Rows of one shape run together, up to `max_batch`; shapes take turns of
/// `turn_steps` steps where several wait, so that none blocks another. Within
/// a shape: higher priority first, then the earlier deadline, then arrival; a
/// row that runs stays until it ends. A row that was passed over
/// `most_overtaken` times goes before those that were not.
/// Where rows join by whole batches or one by one, a turn ends with its batch.
/// Invariants: (1) a ticket is in it at most once; (2) a choice never mixes
/// shapes and never exceeds max_batch; (3) every row runs after finitely many
/// choices, whatever is added meanwhile.
class step_batch {
public:
  /// How often later rows may join before an earlier one of their shape.
  static constexpr uint32_t most_overtaken = 64;

  /// A `max_batch` or `turn_steps` of 0 counts as 1.
  explicit step_batch(uint32_t max_batch, joining join = joining::step,
                      uint32_t turn_steps = 4);

  /// Takes other bounds from the next choice on; rows that run stay.
  void change(uint32_t max_batch, joining join);

  /// Adds a waiting row. False where its ticket is there already, or where it
  /// has no step to run.
  bool add(const batch_row& row);

  /// Takes a row out, waiting or running. False where it is not there.
  bool remove(core::ticket who);

  /// Returns the rows of the next run; no rows where nothing is there. Those
  /// that join count as running from now on.
  step_choice next();

  /// Notes that rows of the last choice ran `steps` steps; returns those that
  /// ended, which are taken out.
  std::vector<core::ticket> ran(const std::vector<core::ticket>& rows,
                                uint32_t steps);

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

  static bool goes_before(const entry& a, const entry& b);

  bool anything_runs() const;
  void take_out(std::vector<entry>::iterator at);
  void use_turn(uint32_t steps);
  void take_turns();
  std::vector<entry*> running();
  std::vector<entry*> let_join(size_t seats);

  /// In order of arrival.
  std::vector<entry> entries_;
  /// The shapes of all entries, each once; the first one has the turn.
  std::vector<batch_shape> turns_;
  uint32_t max_batch_;
  joining join_;
  uint32_t turn_steps_;
  uint32_t turn_left_;
  uint64_t joins_ = 0;
  /// Whether the last choice ends with its turn.
  bool ends_with_turn_ = false;
};

} // namespace atelier::planning
