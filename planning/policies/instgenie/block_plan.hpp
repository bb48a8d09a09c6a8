// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/instgenie/costs.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace atelier::planning::instgenie {

/// The block of a step that waits for a record.
enum class needed_by : uint8_t {
  /// The block that the record belongs to.
  /// Source: InstGenIE, section 4.2, Algorithm 1.
  own_block,
  /// The next block, whose complete input the record is; the step ends when the
  /// last record has arrived.
  next_block,
  /// This is next_block, except that the rows of the last block are blended
  /// from elsewhere, so that nothing is loaded for it.
  next_block_blended,
};

/// The blocks of a step that run from their records, and the duration of the
/// step.
struct block_plan {
  /// By block.
  std::vector<char> cached;
  double seconds = 0;
};

/// Returns the duration of a step that runs these blocks from their records:
/// loads run one after another on their own stream, in parallel with the
/// computation.
double step_seconds(std::span<const block_cost> blocks,
                    const std::vector<char>& cached, needed_by rule);

/// Returns the published plan: each block in turn runs from its record if that
/// ends no later than a full run. It takes at most twice the optimum.
/// Source: InstGenIE, section 4.2, Algorithm 1.
block_plan plan_greedy(std::span<const block_cost> blocks);

/// Returns the plan of the least time, by dynamic programming over the pairs of
/// (compute end, load end) that no other pair beats. It is never slower than
/// the published plan, and a later need never makes it slower than an earlier
/// one. It keeps at most `most_states` pairs for each block: with more pairs,
/// other plans may be faster, but never the published one.
block_plan plan_exact(std::span<const block_cost> blocks,
                      needed_by rule = needed_by::own_block,
                      size_t most_states = 4096);

/// Returns the time of loading without a plan: each load follows the
/// computation of the previous block.
/// Source: InstGenIE, Figure 9.
double naive_seconds(std::span<const block_cost> blocks);

/// Returns the time if all blocks run from their records, and loading takes no
/// time.
double ideal_seconds(std::span<const block_cost> blocks);

/// Returns plan_exact's time for `n` equal blocks under needed_by::own_block,
/// in n operations: the cached blocks are the last ones.
double equal_blocks_seconds(size_t n, const block_cost& each);

} // namespace atelier::planning::instgenie
