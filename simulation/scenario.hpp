// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/stages/standard.hpp>
#include <atelier/core/planning_rhythm.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/demand/trace.hpp>
#include <atelier/planning/demand/workload.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/simulation/simulated_cache.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime {

/// Scripted faults.
enum class fault_kind : uint8_t {
  /// Workers' processes die; they return when the time is over.
  crash,
  /// Workers stop, as with SIGSTOP, until they are killed or wake.
  hang,
  /// Workers take `factor` times as long for what they run, as if a neighbour
  /// used their devices.
  slow_worker,
  /// Finding near work takes `factor` times as long.
  slow_cache,
  /// Searches return nothing, not even that no work is near, and no template's
  /// activations are stored.
  lost_cache,
  /// Arrivals are multiplied by `factor`.
  load_jump,
  /// Solving takes `factor` seconds longer.
  solver_late,
  /// The policy throws instead of planning.
  solver_fails,
};

std::string_view to_string(fault_kind x);

/// One fault, with its start and duration.
struct fault {
  fault_kind kind = fault_kind::crash;
  double at_seconds = 0;
  double for_seconds = 60;
  /// The first affected worker, and the number of affected workers.
  uint32_t worker = 0;
  uint32_t workers = 1;
  double factor = 1;

  friend bool operator==(const fault&, const fault&) = default;
};

/// Reads {"format": "atelier.faults", "version": 1, "faults": [...]}; a fault
/// has "kind", "at_s", "for_s", "worker", "workers", "factor".
/// Errors: ec::bad_payload with every fault of the file at once, a line each.
core::result<std::vector<fault>> parse_faults(std::string_view json,
                                              std::string_view where);

/// Which requests edit a template, and how much of it they mask: a measured
/// share, or a sample of a beta distribution.
struct edit_spec {
  /// Share of all requests that are edits.
  double share = 0;
  /// Mean and spread of the masked shares.
  /// Source: InstGenIE, Figure 3, has the mean of its own trace; the spread is
  ///         that of planning::masked_share.
  double mean = 0.11;
  double spread = 0.1033;
  /// Share of edits whose template's activations are stored.
  double recorded = 1;
  /// Measured masked shares, 0..1, from which each edit draws one; empty: the
  /// distribution is used.
  std::vector<double> masks{};
};

/// Reads masked shares, one number per line.
/// Errors: ec::bad_payload, with the line.
core::result<std::vector<double>> parse_masks(std::string_view text,
                                              std::string_view where);

/// Parameters of a simulation. Everything in it decides its events; equal
/// scenarios have equal events.
struct scenario {
  std::shared_ptr<const planning::profile> profile;
  std::shared_ptr<const planning::policy> policy;
  /// A host's own stages, as in `engine_options::stages`. A stage runs at once,
  /// and its outcome arrives after the time of its `takes`, in parallel with
  /// all others of its pool. Slots hold no bytes: `view` is empty.
  std::vector<actors::added_stage> stages{};
  /// Sorted by time. The content decides labels and scores of a request, and
  /// `variant` is the profile's. A request of n images is n rows that arrive
  /// together; it is answered when all are, and lost when one is.
  std::vector<planning::traced_arrival> trace;
  /// Lines of the trace that were put into the order of their times.
  size_t trace_moved = 0;
  uint32_t workers = 16;
  /// Their kinds, in this order, with as many devices in all: each takes the
  /// time that the profile states for its kind. Empty: all are of one kind,
  /// without a name.
  std::vector<planning::device_group> devices{};
  /// Bytes of models that a worker holds at a time; 0: no bound.
  uint64_t memory_bytes = 0;
  /// Maximum rows of one step; 0: the largest batch that the profile knows.
  uint32_t max_batch = 0;
  /// Overrides when plans let rows join a batch; none: no override.
  std::optional<planning::joining> join;
  /// Adds to a request the client's wishes other than its content, based only
  /// on its id, which counts requests from 1. Empty: no wishes. Values from the
  /// trace take precedence.
  std::function<void(core::request&)> wish;
  uint64_t seed = 1;
  /// Spread of execution times around the profile's, as a share of them.
  double noise = 0;
  /// From arrival to the answer; 0: none.
  core::timespan deadline{0};
  core::timespan window = core::planning_rhythm{}.window;
  uint32_t windows = core::planning_rhythm{}.windows;
  core::timespan period = core::planning_rhythm{}.period;
  /// Share of classes that the classifier predicts correctly; none: that of
  /// each ladder.
  std::optional<double> classifier_accuracy;
  /// None: the profile's.
  std::optional<planning::nearness> similarity;
  /// Similarity of each request's prompt to the nearest earlier prompt, 0..1,
  /// in the order of requests; repeated from the first if the requests
  /// outnumber the values. Used by policies that compare prompts. Empty: drawn
  /// by `similarity`.
  std::vector<double> nearest_prompts{};
  /// None: the profile's.
  std::optional<planning::hit_predictor> predictor;
  /// If it has entries, near work comes from it, by `similarity` within a
  /// topic; otherwise near work is drawn.
  cache_spec cache;
  edit_spec edits;
  std::vector<fault> faults;
  /// Width of the intervals of the series.
  double interval_seconds = 5;
  /// Checks every invariant of the scheduler after this many messages; 0:
  /// never.
  uint32_t check_every = 0;
};

/// Returns the default spread of masked shares for a mean: that of Beta(0.9,
/// b), from which planning::masked_share draws.
double usual_spread(double mean);

/// Checks edits: shares must be in 0..1, the mean in 0.01..0.99, and the spread
/// 0 or at least 0.01 and possible for a beta distribution.
core::result<void> check_edits(const edit_spec& x);

/// Checks a scenario.
core::result<void> validate(const scenario& x);

/// Returns the nearness of earlier work: the scenario's, otherwise the
/// profile's, which is that of prompts if it has thresholds for latents, and
/// that of images otherwise.
std::optional<planning::nearness> nearness_of(const scenario& x,
                                              planning::compared by);

/// Returns the predictor of hits: the scenario's, otherwise the profile's.
std::optional<planning::hit_predictor> predictor_of(const scenario& x);

/// Returns the deadline that a profile implies: that of its first cascade, or
/// otherwise three times the time of its slowest variant for an image, each on
/// the quickest of these kinds of device.
/// Source: Argus, section 5.1, has three times the largest model's latency.
core::timespan usual_deadline(
  const planning::profile& x,
  std::span<const planning::device_group> devices = {});

/// Returns the trace with a script's load jumps applied: arrivals are repeated
/// or left out by a generator with the seed.
std::vector<planning::traced_arrival> with_load_jumps(
  std::vector<planning::traced_arrival> trace, const std::vector<fault>& script,
  uint64_t seed);

} // namespace atelier::runtime
