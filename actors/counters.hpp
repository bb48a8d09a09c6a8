// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/figure.hpp>
#include <atelier/planning/cluster.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace atelier::actors {

/// Raw counts since the scheduler's start. Each only rises, except those of
/// waiting requests.
struct counters {
  uint64_t arrived = 0;
  uint64_t refused = 0;
  uint64_t answered = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  /// The failed requests that were dropped for their deadline.
  uint64_t late = 0;
  uint64_t dispatched = 0;
  /// Replies whose ticket was no longer outstanding.
  uint64_t stale_replies = 0;
  /// Orders that were lost on their way to a living worker, or whose answers
  /// were.
  uint64_t orders_lost = 0;
  /// Legs that began anew because their newest state could not be read.
  uint64_t legs_restarted = 0;
  uint64_t workers_lost = 0;
  uint64_t resumed = 0;
  uint64_t steps_run = 0;
  /// Dispatches postponed because the arena was full.
  uint64_t slot_waits = 0;
  /// Variant changes by workers.
  uint64_t loads = 0;
  /// Steps by the number of rows they were run with; the last entry counts all
  /// larger batches.
  std::vector<uint64_t> batches;
  /// Facts that did not arrive in time.
  uint64_t facts_late = 0;
  /// By stage of the pipeline: how often it was left out because it failed,
  /// found no free worker or slot, or answered too late.
  std::vector<uint64_t> stages_left_out;
  /// States that devices kept for later requests.
  uint64_t captured = 0;
  /// States of drawn images that no device was ordered to keep, since no slot
  /// was free: each counts once, also if its image was ordered several times.
  uint64_t captures_without_slot = 0;
  /// Images on which their judge failed.
  uint64_t judge_failures = 0;
  /// These are like the fields of planning::demand_window and planning::demand.
  uint64_t searched = 0;
  uint64_t hits = 0;
  planning::prediction_tally predictions;
  std::vector<std::pair<uint32_t, uint64_t>> skips;
  std::vector<std::pair<uint32_t, uint64_t>> allowed;
  std::vector<std::vector<uint64_t>> predicted;
  std::vector<uint64_t> confidences;
  std::vector<uint64_t> edits;
  std::vector<uint64_t> placed;
  /// These two can also fall.
  std::vector<double> extra_work;
  std::vector<double> extra_pixels;
  std::vector<uint64_t> waiting;
  std::vector<uint64_t> waiting_shared;
  /// The last retrievals, oldest first, and the total number.
  std::vector<planning::retrieval_sample> retrievals;
  uint64_t retrieved = 0;

  friend bool operator==(const counters&, const counters&) = default;
};

/// The counts that people see. A counter is a member above, a row here and
/// `records::count`, or a function of `records`, where it rises.
inline constexpr core::counted_figure<counters> counted_figures[] = {
  {{"late", "requests", "atelier_deadline_misses_total",
    "Requests dropped because their deadline passed.",
    core::figure_place::status},
   &counters::late},
  {{"resumed", "requests", "atelier_requests_resumed_total",
    "Requests that continued from a published state after their worker was "
    "lost.",
    core::figure_place::status},
   &counters::resumed},
  {{"steps_run", "devices", "atelier_steps_total",
    "Denoising steps, counted for each image."},
   &counters::steps_run},
  {{"workers_lost", "devices", "atelier_workers_lost_total",
    "Workers whose process died."},
   &counters::workers_lost},
  {{"orders_lost", "devices", "atelier_orders_lost_total",
    "Orders to workers, or their answers, that were lost and sent again."},
   &counters::orders_lost},
  {{"runs_restarted", "devices", "atelier_runs_restarted_total",
    "Runs that began anew because their newest state could not be read."},
   &counters::legs_restarted},
  {{"loads", "plan", "atelier_variant_loads_total",
    "Times that workers changed their variants."},
   &counters::loads},
  {{"slot_waits", "arena", "atelier_arena_waits_total",
    "Dispatches delayed because no slot was free."},
   &counters::slot_waits},
  {{"judge_failures", "plan", "atelier_judge_failures_total",
    "Images that their judge failed to rate; the next variant of their route "
    "drew them again."},
   &counters::judge_failures},
  {{"cache_captures_without_slot", "earlier_work",
    "atelier_cache_captures_without_slot_total",
    "States that were not captured, since no slot was free."},
   &counters::captures_without_slot},
};

} // namespace atelier::actors
