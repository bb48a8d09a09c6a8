// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace atelier::runtime {

/// What happened in one interval; requests count where they arrived.
struct interval {
  double begin_seconds = 0;
  uint64_t arrived = 0;
  uint64_t in_time = 0;
  uint64_t late = 0;
  uint64_t dropped = 0;
  /// Images answered within the interval, whenever they were asked for.
  uint64_t answered_here = 0;
  /// Images of requests that arrived here, and of all their quality.
  uint64_t images = 0;
  double quality_sum = 0;
  /// Of those images, the shares of their steps that earlier work saved,
  /// summed.
  double saved_sum = 0;
  /// Images answered by the light variant of a cascade.
  uint64_t light = 0;
  uint64_t searches = 0;
  uint64_t hits = 0;
  /// States in the simulated cache at the end of the interval.
  uint64_t cached = 0;
  /// Times that workers changed their variants.
  uint64_t loads = 0;
  /// At the end of the interval: workers by variant, those that load last.
  std::vector<uint32_t> workers;
  /// The plan's first threshold; below 0: it has none.
  double threshold = -1;
  /// Rows that wait or run.
  uint64_t open = 0;

  uint64_t completed() const {
    return in_time + late;
  }

  /// Late and dropped ones of those that arrived.
  double violation_ratio() const {
    return arrived == 0
           ? 0
           : static_cast<double>(late + dropped) / static_cast<double>(arrived);
  }
};

/// What the devices of one kind did.
struct kind_use {
  std::string kind;
  uint32_t devices = 0;
  /// In which they ran or loaded.
  double device_seconds = 0;
  /// As outcome::joules and outcome::idle_joules.
  double joules = -1;
  double idle_joules = 0;
};

/// How one policy fared in one scenario. Times that end in `wall` were taken
/// from the real clock; all else is the same for the same scenario.
struct outcome {
  std::string policy;
  uint64_t seed = 0;
  std::vector<std::string> variants;
  uint64_t requests = 0;
  uint64_t completed = 0;
  uint64_t dropped = 0;
  uint64_t late = 0;
  /// Images drawn: more than requests where some want several.
  uint64_t images = 0;
  /// Of the trace: lines that were put into order, requests that failed where
  /// they were recorded, and who asked.
  uint64_t trace_moved = 0;
  uint64_t trace_failed = 0;
  uint64_t tenants = 0;
  double quality_mean = 0;
  /// Whether the profile says how good its variants' pictures are. Without,
  /// `quality_mean` counts each answer as 1.
  bool rated = true;
  /// By the cascade's table at the share that the light variant answered; below
  /// 0: there is none.
  double fid = -1;
  double light_share = 0;
  /// Images a second.
  double throughput_qps = 0;
  double latency_mean_ms = 0;
  double latency_p50_ms = 0;
  double latency_p95_ms = 0;
  double latency_p99_ms = 0;
  /// From arrival to the first step; and in steps.
  double first_step_mean_ms = 0;
  double steps_p95_ms = 0;
  uint64_t edits = 0;
  /// Masked share of the edits that were answered.
  double masked_mean = 0;
  double utilisation = 0;
  double device_seconds = 0;
  /// Drawn by all devices from the first arrival to the last answer, and of it
  /// by those that ran nothing; below 0: not every variant that ran has watts.
  double joules = -1;
  double idle_joules = 0;
  /// The same by kind of device; empty where the scenario names none.
  std::vector<kind_use> kinds;
  /// Mean share of the steps that earlier work saved, of all answers.
  double saved_steps = 0;
  uint64_t cache_hits = 0;
  uint64_t cache_lookups = 0;
  /// Of a cache whose contents are simulated: states that it may hold, 0 where
  /// it is not; that came and went; searches whose nearest prompt lacked some.
  uint64_t cache_entries = 0;
  uint64_t cache_inserted = 0;
  uint64_t cache_evicted = 0;
  uint64_t cache_holes = 0;
  /// How long what was used had been there.
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
  /// Of every answer's request, time, kind and variant, in order.
  uint64_t digest = 0;
  /// Why the last plan could answer nothing; empty: it could.
  std::string infeasible;
  /// The first invariant that did not hold; empty: all held.
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
