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

/// What goes wrong, by script.
enum class fault_kind : uint8_t {
  /// Workers' processes die; they come back when the time is over.
  crash,
  /// Workers stand still, as SIGSTOP does, until they are killed or wake.
  hang,
  /// Workers take `factor` times as long for what they run, as beside a
  /// neighbour on their devices.
  slow_worker,
  /// Finding something near takes `factor` times as long.
  slow_cache,
  /// Nothing near is found any more, nor told to be far, and no template's
  /// activations are stored.
  lost_cache,
  /// `factor` times the arrivals.
  load_jump,
  /// Solving takes `factor` seconds longer.
  solver_late,
  /// The policy throws instead of planning.
  solver_fails,
};

std::string_view to_string(fault_kind x);

/// One fault, from a time on and for a time.
struct fault {
  fault_kind kind = fault_kind::crash;
  double at_seconds = 0;
  double for_seconds = 60;
  /// The first of the workers that it strikes, and how many.
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
/// share, or one of a beta distribution.
struct edit_spec {
  /// Of all requests.
  double share = 0;
  /// Of the masked shares.
  /// Source: InstGenIE, Figure 3, has the mean of its own trace; the spread is
  ///         that of planning::masked_share.
  double mean = 0.11;
  double spread = 0.1033;
  /// Share of edits whose template's activations are stored.
  double recorded = 1;
  /// Measured masked shares, 0..1, of which each edit has one, drawn; empty:
  /// those of the distribution.
  std::vector<double> masks{};
};

/// Reads masked shares, one number a line.
/// Errors: ec::bad_payload, with the line.
core::result<std::vector<double>> parse_masks(std::string_view text,
                                              std::string_view where);

/// What a simulation is made from. Everything in it decides its events; equal
/// scenarios have equal events.
struct scenario {
  std::shared_ptr<const planning::profile> profile;
  std::shared_ptr<const planning::policy> policy;
  /// A host's own stages, as `engine_options::stages`. What one runs happens at
  /// once, and its outcome comes after the time that its `takes` says, beside
  /// all others of its pool. Slots hold no bytes: `view` is empty.
  std::vector<actors::added_stage> stages{};
  /// Rising; the content decides labels and scores of a request, and `variant`
  /// is the profile's. A request of n images is n rows that arrive together; it
  /// is answered when all are, and lost when one is.
  std::vector<planning::traced_arrival> trace;
  /// Lines of the trace that were put into the order of their times.
  size_t trace_moved = 0;
  uint32_t workers = 16;
  /// Their kinds, in this order, with as many devices in all: each takes what
  /// the profile says of its kind. Empty: all are of one kind, without a name.
  std::vector<planning::device_group> devices{};
  /// Bytes of models that a worker holds at a time; 0: no bound.
  uint64_t memory_bytes = 0;
  /// Rows of one step at most; 0: the largest batch that the profile knows.
  uint32_t max_batch = 0;
  /// When rows join a batch, whatever plans say; none: as they say.
  std::optional<planning::joining> join;
  /// Puts into a request what its client asks for besides its content: by its
  /// id alone, which counts requests from 1 on. Empty: nothing. What the trace
  /// says goes before it.
  std::function<void(core::request&)> wish;
  uint64_t seed = 1;
  /// Spread of execution times about the profile's, as a share of them.
  double noise = 0;
  /// From arrival to the answer; 0: none.
  core::timespan deadline{0};
  core::timespan window = core::planning_rhythm{}.window;
  uint32_t windows = core::planning_rhythm{}.windows;
  core::timespan period = core::planning_rhythm{}.period;
  /// Share of classes that the classifier predicts rightly; none: that of each
  /// ladder.
  std::optional<double> classifier_accuracy;
  /// None: the profile's.
  std::optional<planning::nearness> similarity;
  /// How near each request's prompt is to the nearest of those before it, 0..1,
  /// in their order and from the first again where there are more requests; for
  /// policies that compare prompts. Empty: drawn by `similarity`.
  std::vector<double> nearest_prompts{};
  /// None: the profile's.
  std::optional<planning::hit_predictor> predictor;
  /// Where it has entries, what is near comes from it, by `similarity` on one
  /// topic; else it is drawn.
  cache_spec cache;
  edit_spec edits;
  std::vector<fault> faults;
  /// Width of the intervals of the series.
  double interval_seconds = 5;
  /// Check every invariant of the hub after so many messages; 0: never.
  uint32_t check_every = 0;
};

/// Returns the spread of masked shares of a mean where nobody says one: that of
/// Beta(0.9, b), which planning::masked_share draws from.
double usual_spread(double mean);

/// Returns what is wrong with edits, if anything: shares in 0..1, the mean in
/// 0.01..0.99, the spread 0 or from 0.01 on and such that a beta distribution
/// has it.
core::result<void> check_edits(const edit_spec& x);

/// Returns what is wrong with a scenario, if anything.
core::result<void> validate(const scenario& x);

/// Returns how near earlier work is: the scenario's word, else the profile's,
/// which is of prompts where it has thresholds of latents, else of pictures.
std::optional<planning::nearness> nearness_of(const scenario& x,
                                              planning::compared by);

/// Returns what predicts hits: the scenario's word, else the profile's.
std::optional<planning::hit_predictor> predictor_of(const scenario& x);

/// Returns the deadline that a profile implies: that of its first cascade, else
/// three times its slowest variant's picture, each on the quickest of these
/// kinds of device.
/// Source: Argus, section 5.1, has three times the largest model's latency.
core::timespan usual_deadline(
  const planning::profile& x,
  std::span<const planning::device_group> devices = {});

/// Returns the trace with the load jumps of a script in it: arrivals repeated,
/// or left out, by a generator of the seed.
std::vector<planning::traced_arrival> with_load_jumps(
  std::vector<planning::traced_arrival> trace, const std::vector<fault>& script,
  uint64_t seed);

} // namespace atelier::runtime
