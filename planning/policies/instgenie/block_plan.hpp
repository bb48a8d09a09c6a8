// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/instgenie/costs.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace atelier::planning::instgenie {

/// Which block of a step waits for a record.
enum class needed_by : uint8_t {
  /// The block that it belongs to.
  /// Source: InstGenIE, section 4.2, Algorithm 1.
  own_block,
  /// The next one, whose complete input it is; the step ends when the last one
  /// is there.
  next_block,
  /// As next_block, where the rows of the last block are blended from
  /// elsewhere,
  /// so that nothing is loaded for it.
  next_block_blended,
};

/// Which blocks of a step run from their records, and how long the step takes.
struct block_plan {
  /// By block.
  std::vector<char> cached;
  double seconds = 0;
};

/// Returns how long a step takes with these blocks from their records: loads
/// follow each other on their own stream, beside the computation.
double step_seconds(std::span<const block_cost> blocks,
                    const std::vector<char>& cached, needed_by rule);

/// Returns the published plan: each block from its record where that ends no
/// later than in full, one after the other. At most twice the optimum.
/// Source: InstGenIE, section 4.2, Algorithm 1.
block_plan plan_greedy(std::span<const block_cost> blocks);

/// Returns the plan of the least time: a dynamic programme over the pairs of
/// (compute end, load end) that no other pair beats. Never above the published
/// plan, nor under a later need above that of an earlier one. Keeps at most
/// `most_states` pairs for each block: beyond that the plan may be beaten, but
/// never by the published one.
block_plan plan_exact(std::span<const block_cost> blocks,
                      needed_by rule = needed_by::own_block,
                      size_t most_states = 4096);

/// Returns the best plan where all blocks after the first cached one must be
/// cached too, as with recorded keys and values.
block_plan plan_suffix(std::span<const block_cost> blocks);

/// One way to run a block for a batch.
struct block_option {
  double compute = 0;
  /// 0: loads nothing.
  double load = 0;
};

struct option_plan {
  /// By block: index of its option.
  std::vector<size_t> chosen;
  double seconds = 0;
};

/// Returns the options that end a step first, a record being needed by its own
/// block. For plans that let each member of a batch run a block its own way.
/// @pre every block has an option
option_plan plan_options(std::span<const std::vector<block_option>> blocks,
                         size_t most_states = 4096);

/// One member of a batch, with what it would load.
struct member_template {
  batch_member member;
  /// Members of one template at one step share what they load.
  uint64_t template_id = 0;
  uint32_t step = 0;
};

/// Returns the options of one block for a batch: every choice of members that
/// run it from the record, without those that another beats. Twice the work for
/// each member: from the ninth on they run in full.
std::vector<block_option> member_options(
  const block_shape& block, std::span<const member_template> members,
  const estimator& by, recorded what);

/// Loading without a plan: after the computation of the block before, one after
/// the other.
/// Source: InstGenIE, Figure 9.
double naive_seconds(std::span<const block_cost> blocks);

/// All blocks from their records, loading beside computing.
double strawman_seconds(std::span<const block_cost> blocks);

/// All blocks from their records, loading for nothing.
double ideal_seconds(std::span<const block_cost> blocks);

/// Returns the least time between steps where loads run on into the next step:
/// the least over all plans of the larger of both sums. Never above the time of
/// a plan of one step that loads all it uses; one step's records must fit
/// beside the running one's.
double steady_seconds(std::span<const block_cost> blocks,
                      size_t most_states = 4096);

/// Returns plan_exact's time for `n` equal blocks, own_block's need, in n
/// operations: the cached ones come last.
double equal_blocks_seconds(size_t n, const block_cost& each);

} // namespace atelier::planning::instgenie
