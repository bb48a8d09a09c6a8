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

/// Returns the best plan in which all blocks after the first cached one are
/// also cached, as recorded keys and values require.
block_plan plan_suffix(std::span<const block_cost> blocks);

/// One option to run a block for a batch.
struct block_option {
  double compute = 0;
  /// 0: it loads nothing.
  double load = 0;
};

struct option_plan {
  /// By block: the index of its option.
  std::vector<size_t> chosen;
  double seconds = 0;
};

/// Returns the options that end a step first if a record is needed by its own
/// block. It serves plans in which each member of a batch may run a block
/// differently.
/// @pre every block has an option
option_plan plan_options(std::span<const std::vector<block_option>> blocks,
                         size_t most_states = 4096);

/// One member of a batch, with the template that it would load.
struct member_template {
  batch_member member;
  /// Members of one template at one step share their load.
  uint64_t template_id = 0;
  uint32_t step = 0;
};

/// Returns the options of one block for a batch: every choice of members that
/// run it from the record, without options that another beats. Each member
/// doubles the work: members from the ninth on run in full.
std::vector<block_option> member_options(
  const block_shape& block, std::span<const member_template> members,
  const estimator& by, recorded what);

/// Returns the time of loading without a plan: each load follows the
/// computation of the previous block.
/// Source: InstGenIE, Figure 9.
double naive_seconds(std::span<const block_cost> blocks);

/// Returns the time if all blocks run from their records, and loading runs in
/// parallel with computing.
double strawman_seconds(std::span<const block_cost> blocks);

/// Returns the time if all blocks run from their records, and loading takes no
/// time.
double ideal_seconds(std::span<const block_cost> blocks);

/// Returns the least time between steps if loads continue into the next step:
/// the minimum over all plans of the larger of both sums. It is never above the
/// time of a plan of one step that loads everything it uses; one step's records
/// must fit in memory together with the running one's.
double steady_seconds(std::span<const block_cost> blocks,
                      size_t most_states = 4096);

/// Returns plan_exact's time for `n` equal blocks under needed_by::own_block,
/// in n operations: the cached blocks are the last ones.
double equal_blocks_seconds(size_t n, const block_cost& each);

} // namespace atelier::planning::instgenie
