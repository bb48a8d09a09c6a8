// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/instgenie/block_plan.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace atelier::planning::instgenie {

/// One edit at a worker, or about to be sent to one.
struct edit_row {
  batch_member member;
  uint32_t steps_left = 1;
  /// The seconds until its template's record is in the memory of the host, so
  /// that it can begin; 0: the record has arrived.
  double ready_in = 0;
};

/// Returns the seconds of one step of a batch. More members never make a step
/// shorter: among equal workers, an idle one is the best choice.
using step_model = std::function<double(std::span<const batch_member>)>;

/// One worker as the choice sees it.
struct edit_worker {
  std::vector<edit_row> running;
  /// In order of joining.
  std::vector<edit_row> queued;
  uint32_t max_batch = 1;
  /// The step model of its device, if devices differ; null: the caller's. It
  /// must outlive the choice.
  const step_model* steps = nullptr;
};

/// Returns a model by fitted estimators and the published plan, plan_greedy().
step_model greedy_steps(std::vector<block_shape> blocks, estimator by,
                        recorded what);

/// Returns a model of equal blocks by the least possible time.
step_model equal_steps(size_t blocks, block_shape each, estimator by,
                       recorded what);

/// Returns the worker with the shortest next step if the edit is in its batch,
/// among those with a free seat. If no seat is free, it chooses among all
/// workers, and counts waiting edits as running. Ties: the first.
/// Source: InstGenIE, section 4.4, Algorithm 2, which does not cover the case
/// without a free seat.
std::optional<size_t> choose_by_step(std::span<const edit_worker> workers,
                                     const edit_row& edit,
                                     const step_model& seconds);

/// Returns the seconds until each edit of a worker is finished, first the
/// running ones, then the waiting ones: rows leave when their steps end, and
/// waiting rows join between steps. An edit whose record has not arrived joins
/// no earlier than the record.
std::vector<double> finish_times(const edit_worker& of,
                                 const step_model& seconds);

/// Returns the worker with the smallest sum of the edit's own finish and the
/// delay of the others. Ties: the first.
std::optional<size_t> choose_by_finish(std::span<const edit_worker> workers,
                                       const edit_row& edit,
                                       const step_model& seconds);

} // namespace atelier::planning::instgenie
