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
  /// Batches that fit, by rising size, at least one; times above 0.
  std::vector<batch_time> batches;
  /// The judge's part in the time of each picture; 0 for the heavy leg.
  double judge_seconds = 0;
};

/// Returns the seconds of a batch of `n`: linear between the profiled sizes
/// around it, proportional below the first and beyond the last.
/// Source: DiffServe profiles the sizes 1, 2, 4, 8, 16, 32 alone.
/// @pre n > 0
double batch_seconds(const leg_times& of, uint32_t n);

/// Returns requests a second of one worker that runs batches of `n`.
double throughput(const leg_times& of, uint32_t n);

/// Returns the profiled batch of most throughput that takes at most `seconds`;
/// of equal ones the smaller; none fits: 0.
uint32_t best_batch_within(const leg_times& of, double seconds);

} // namespace atelier::planning::diffserve
