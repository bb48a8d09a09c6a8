// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>

#include <cstdint>
#include <vector>

namespace atelier::planning::diffserve {

/// The time of one whole batch.
struct batch_time {
  uint32_t batch = 1;
  double seconds = 0;

  friend bool operator==(const batch_time&, const batch_time&) = default;
};

/// One variant of a cascade. The light one's times include the judge.
struct leg_times {
  core::variant_id variant;
  /// The batches that fit, by rising size, at least one; times above 0.
  std::vector<batch_time> batches;
  /// The judge's part in the time of each image; 0 for the heavy leg.
  double judge_seconds = 0;
};

/// Returns the seconds of a batch of `n`: linear between the neighbouring
/// profiled sizes, proportional below the first and above the last.
/// Source: DiffServe profiles only the sizes 1, 2, 4, 8, 16, 32.
/// @pre n > 0
double batch_seconds(const leg_times& of, uint32_t n);

/// Returns the requests per second of one worker that runs batches of `n`.
double throughput(const leg_times& of, uint32_t n);

/// Returns the profiled batch with the highest throughput that takes at most
/// `seconds`; among equal ones the smallest; 0 if none fits.
uint32_t best_batch_within(const leg_times& of, double seconds);

} // namespace atelier::planning::diffserve
