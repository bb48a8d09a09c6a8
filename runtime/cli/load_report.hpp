// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/load_run.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// Statistics of a distribution, in milliseconds; all 0 if it has no values. A
/// percentile is the smallest value that at least that percentage of the values
/// does not exceed.
struct percentiles {
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};

percentiles percentiles_of(std::vector<core::timespan> values);

/// The results of a load.
struct load_summary {
  uint64_t requests = 0;
  uint64_t answered = 0;
  uint64_t refused = 0;
  uint64_t failed = 0;
  /// Number of refused and failed requests by error code.
  std::map<std::string, uint64_t> reasons;
  /// Requests that failed because of their deadline.
  uint64_t deadline_misses = 0;
  /// From the due moment of the first request to the last answer.
  double seconds = 0;
  /// Requests per second, sent and answered.
  double offered = 0;
  double throughput = 0;
  /// Distributions over the answered requests; the latency counts from their
  /// due moment.
  percentiles latency;
  percentiles queue;
  /// How late requests were sent.
  percentiles lag;
  /// Requests that had an objective, and those that attained it.
  uint64_t with_objective = 0;
  uint64_t attained = 0;
  /// Steps by the rows of their batch; [64] counts all batches of 64 rows or
  /// more.
  std::vector<uint64_t> batches;
};

/// Summarizes the records. A request's objective is its deadline, otherwise
/// `slo`. A request that was refused or failed did not attain its objective.
load_summary sum_up(const std::vector<load_record>& records,
                    std::optional<core::timespan> slo,
                    std::vector<uint64_t> batches);

/// Returns the average rows of a step; 0 if none ran.
double mean_batch(const std::vector<uint64_t>& batches);

/// Returns a human-readable table.
std::string to_table(const load_summary& x);

/// Returns one line for each request, in order, under a line of column names. A
/// line has: when the request was due after the start, its outcome (answered,
/// late, refused or failed; `late` was answered after its objective), how long
/// that took from its due moment, how long it waited, how late it was sent, all
/// in milliseconds, and the code of a refusal or failure. Objectives are as in
/// sum_up.
std::string to_csv(const std::vector<load_record>& records,
                   std::optional<core::timespan> slo);

/// Returns one JSON object; `about` describes the run by name.
std::string to_json(const load_summary& x,
                    const std::map<std::string, std::string>& about);

} // namespace atelier::runtime::cli
