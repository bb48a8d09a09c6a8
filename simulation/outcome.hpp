// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::runtime {

/// Counts of one interval; requests count in the interval of their arrival.
struct interval {
  double begin_seconds = 0;
  uint64_t arrived = 0;
  uint64_t in_time = 0;
  uint64_t late = 0;
  uint64_t dropped = 0;
  /// Images answered within the interval, whenever they were requested.
  uint64_t answered_here = 0;
  /// Images of requests that arrived in the interval, and the sum of their
  /// quality.
  uint64_t images = 0;
  double quality_sum = 0;
  /// Sum of the shares of those images' steps that earlier work saved.
  double saved_sum = 0;
  /// Images answered by the light variant of a cascade.
  uint64_t light = 0;
  uint64_t searches = 0;
  uint64_t hits = 0;
  /// States in the simulated cache at the end of the interval.
  uint64_t cached = 0;
  /// Number of variant changes by workers.
  uint64_t loads = 0;
  /// At the end of the interval: workers by variant; the last entry is loading
  /// workers.
  std::vector<uint32_t> workers;
  /// The plan's first threshold; below 0 if it has none.
  double threshold = -1;
  /// Rows that wait or run.
  uint64_t open = 0;

  uint64_t completed() const {
    return in_time + late;
  }

  /// Share of the arrived requests that were late or dropped.
  double violation_ratio() const {
    return arrived == 0
           ? 0
           : static_cast<double>(late + dropped) / static_cast<double>(arrived);
  }
};

/// Totals of the devices of one kind.
struct kind_use {
  std::string kind;
  uint32_t devices = 0;
  /// Time in which they ran or loaded.
  double device_seconds = 0;
  /// These are like outcome::joules and outcome::idle_joules.
  double joules = -1;
  double idle_joules = 0;
};

/// Results of one policy in one scenario. Times with `wall` in their names were
/// taken from the real clock; all other values are the same for the same
/// scenario.
struct outcome {
  std::string policy;
  uint64_t seed = 0;
  std::vector<std::string> variants;
  /// Requests, images and latencies are without those of the trace's warm-up;
  /// devices' times and energy, loads, searches and plans include them.
  uint64_t requests = 0;
  uint64_t completed = 0;
  uint64_t dropped = 0;
  uint64_t late = 0;
  /// Images drawn: more than requests if some want several.
  uint64_t images = 0;
  /// Facts of the trace: lines that were put into order, requests that failed
  /// when they were recorded, and the number of tenants.
  uint64_t trace_moved = 0;
  uint64_t trace_failed = 0;
  uint64_t tenants = 0;
  double quality_mean = 0;
  /// Whether the profile states the quality of its variants' images. If not,
  /// `quality_mean` counts each answer as 1.
  bool rated = true;
  /// From the cascade's table at the share that the light variant answered;
  /// below 0 if it has none.
  double fid = -1;
  double light_share = 0;
  /// Images per second.
  double throughput_qps = 0;
  double latency_mean_ms = 0;
  double latency_p50_ms = 0;
  double latency_p95_ms = 0;
  double latency_p99_ms = 0;
  /// Time from arrival to the first step; and the 95th percentile of the time
  /// in steps.
  double first_step_mean_ms = 0;
  double steps_p95_ms = 0;
  uint64_t edits = 0;
  /// Masked share of the edits that were answered.
  double masked_mean = 0;
  double utilisation = 0;
  double device_seconds = 0;
  /// Energy of all devices from the first arrival to the last answer, and the
  /// part of devices that ran nothing; below 0 if not every variant that ran
  /// has watts.
  double joules = -1;
  double idle_joules = 0;
  /// The same by kind of device; empty if the scenario names none.
  std::vector<kind_use> kinds;
  /// Mean share of the steps that earlier work saved, over all answers.
  double saved_steps = 0;
  uint64_t cache_hits = 0;
  uint64_t cache_lookups = 0;
  /// For a cache with simulated contents: the maximum number of states (0 if
  /// not simulated), the states that were inserted and evicted, and the
  /// searches whose nearest prompt lacked some states.
  uint64_t cache_entries = 0;
  uint64_t cache_inserted = 0;
  uint64_t cache_evicted = 0;
  uint64_t cache_holes = 0;
  /// Age of the states that were used.
  double hit_age_p50_seconds = 0;
  double hit_age_p90_seconds = 0;
  uint64_t loads = 0;
  uint64_t workers_lost = 0;
  uint64_t plans = 0;
  double plan_p50_wall_ms = 0;
  double plan_mean_wall_ms = 0;
  double plan_max_wall_ms = 0;
  double route_p50_wall_us = 0;
  double route_p99_wall_us = 0;
  double wall_seconds = 0;
  double virtual_seconds = 0;
  uint64_t events = 0;
  /// Digest of every answer's request, time, kind and variant, in order.
  uint64_t digest = 0;
  /// Why the last plan could answer nothing; empty if it could.
  std::string infeasible;
  /// The first invariant that did not hold; empty if all held.
  std::string broken;
  std::vector<interval> series;

  uint64_t violations() const {
    return late + dropped;
  }

  double violation_ratio() const {
    return requests == 0
           ? 0
           : static_cast<double>(violations()) / static_cast<double>(requests);
  }
};

} // namespace atelier::runtime
