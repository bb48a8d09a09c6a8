// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/load_run.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// Some of the values of a distribution, in milliseconds; all 0 where it has
/// none. Percentiles are the smallest value that so many are not above.
struct percentiles {
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};

percentiles percentiles_of(std::vector<core::timespan> values);

/// What a load came to.
struct load_summary {
  uint64_t requests = 0;
  uint64_t answered = 0;
  uint64_t refused = 0;
  uint64_t failed = 0;
  /// By code, of both.
  std::map<std::string, uint64_t> reasons;
  /// Failed for their deadline.
  uint64_t deadline_misses = 0;
  /// From the first one due to the last answer.
  double seconds = 0;
  /// Requests a second, sent and answered.
  double offered = 0;
  double throughput = 0;
  /// Of those answered, from their due moment.
  percentiles latency;
  percentiles queue;
  /// How late requests were sent.
  percentiles lag;
  /// Requests that had a time to be answered in, and those that were.
  uint64_t with_objective = 0;
  uint64_t attained = 0;
  /// Steps by the rows of their batch; [64] counts all from there on.
  std::vector<uint64_t> batches;
};

/// Sums up. A request's objective is its deadline, else `slo`; one that was
/// refused or failed did not attain it.
load_summary sum_up(const std::vector<load_record>& records,
                    std::optional<core::timespan> slo,
                    std::vector<uint64_t> batches);

/// Returns rows of a step, on average; 0 where none ran.
double mean_batch(const std::vector<uint64_t>& batches);

/// Returns the table for people.
std::string to_table(const load_summary& x);

/// Returns a line for each request, in order, under a line of names: when it
/// was due after the begin, what became of it (answered, late, refused, failed;
/// `late` was answered, after its objective), how long that took from its due
/// moment, how long it waited, how late it was sent, all in milliseconds, and
/// the code of a refusal or failure. Objectives are as in sum_up.
std::string to_csv(const std::vector<load_record>& records,
                   std::optional<core::timespan> slo);

/// Returns one JSON object; `about` says how it was run, by name.
std::string to_json(const load_summary& x,
                    const std::map<std::string, std::string>& about);

} // namespace atelier::runtime::cli
