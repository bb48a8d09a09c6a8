// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/plan.hpp>

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
/// row that runs stays until it ends.
/// Invariants: (1) a ticket is in it at most once; (2) a choice never mixes
/// shapes and never exceeds max_batch; (3) every row runs after finitely many
/// choices.
class step_batch {
public:
  explicit step_batch(uint32_t max_batch, joining join = joining::step,
                      uint32_t turn_steps = 4);

  /// Adds a waiting row. False where its ticket is there already.
  bool add(const batch_row& row);

  /// Takes a row out, waiting or running. False where it is not there.
  bool remove(core::ticket who);

  /// Returns the rows of the next run; no rows where nothing is there.
  step_choice next();

  /// Notes that rows of the last choice ran `steps` steps; returns those that
  /// ended, which are taken out.
  std::vector<core::ticket> ran(const std::vector<core::ticket>& rows,
                                uint32_t steps);

  /// Whether a waiting row could join if the running choice stopped now.
  bool wants_boundary() const;

  size_t size() const;
  const batch_row* find(core::ticket who) const;

private:
  struct entry {
    batch_row row;
    bool running = false;
    uint64_t order = 0;
  };

  std::vector<entry> entries_;
  uint32_t max_batch_;
  joining join_;
  uint32_t turn_steps_;
  uint64_t next_order_ = 0;
  std::optional<batch_shape> turn_;
  uint32_t turn_left_ = 0;
};

} // namespace atelier::planning
