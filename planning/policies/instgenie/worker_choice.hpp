// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/instgenie/block_plan.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace atelier::planning::instgenie {

/// One edit at a worker, or about to go to one.
struct edit_row {
  batch_member member;
  uint32_t steps_left = 1;
  /// Seconds until its template's record is in the memory of the host, so that
  /// it can begin; 0: it is there.
  double ready_in = 0;
};

/// Returns the seconds of one step of a batch. More members never make a step
/// shorter: of equal workers an idle one is then the best there is.
using step_model = std::function<double(std::span<const batch_member>)>;

/// One worker as the choice sees it.
struct edit_worker {
  std::vector<edit_row> running;
  /// In order of joining.
  std::vector<edit_row> queued;
  uint32_t max_batch = 1;
  /// What its device takes, where devices differ; null: as the caller says.
  /// Must outlive the choice.
  const step_model* steps = nullptr;
};

/// Returns a model by fitted estimators and the published plan, plan_greedy().
step_model greedy_steps(std::vector<block_shape> blocks, estimator by,
                        recorded what);

/// Returns a model of equal blocks by the least time there is.
step_model equal_steps(size_t blocks, block_shape each, estimator by,
                       recorded what);

/// Returns the worker whose next step takes least with the edit in its batch,
/// among those with a free seat; where there is none, among all, with what
/// waits counted as running. Ties: the first.
/// Source: InstGenIE, section 4.4, Algorithm 2; without a free seat it does not
///         say.
std::optional<size_t> choose_by_step(std::span<const edit_worker> workers,
                                     const edit_row& edit,
                                     const step_model& seconds);

/// Returns the seconds until each edit of a worker is finished, those that run
/// first, then those that wait: rows leave when their steps end and waiting
/// ones join between steps. An edit whose record is not there yet joins no
/// earlier than that.
std::vector<double> finish_times(const edit_worker& of,
                                 const step_model& seconds);

/// Returns the worker where the edit's own finish and the delay that it brings
/// to the others sum to the least. Ties: the first.
std::optional<size_t> choose_by_finish(std::span<const edit_worker> workers,
                                       const edit_row& edit,
                                       const step_model& seconds);

/// Fewest edits; fewest masked tokens; the first with a free seat, else the
/// first. Nothing without workers. Ties: the first.
/// Source: InstGenIE, section 6.1, its baselines.
std::optional<size_t> choose_fewest_requests(
  std::span<const edit_worker> workers);
std::optional<size_t> choose_fewest_tokens(
  std::span<const edit_worker> workers);
std::optional<size_t> choose_first_fit(std::span<const edit_worker> workers);

/// Returns whether a batch runs the step of a late edit in full rather than
/// wait for its record, whichever ends first.
bool run_full_when_late(double seconds_until_record, double step_from_record,
                        double step_in_full);

} // namespace atelier::planning::instgenie
