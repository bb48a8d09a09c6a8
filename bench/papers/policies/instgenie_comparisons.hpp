// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/instgenie/instgenie.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace atelier::papers {

/// Return the index of the worker with the fewest edits; with the fewest masked
/// tokens; the first with a free seat, otherwise the first. They return nothing
/// without workers. Ties: the first.
/// Source: InstGenIE, section 6.1, its baselines.
std::optional<size_t> choose_fewest_requests(
  std::span<const planning::instgenie::edit_worker> workers);
std::optional<size_t> choose_fewest_tokens(
  std::span<const planning::instgenie::edit_worker> workers);
std::optional<size_t> choose_first_fit(
  std::span<const planning::instgenie::edit_worker> workers);

/// The differences between the policies that InstGenIE is compared with.
struct instgenie_comparison_rules {
  using worker_rule = std::optional<size_t> (*)(
    std::span<const planning::instgenie::edit_worker>);

  std::string name;
  worker_rule workers = choose_fewest_requests;
  /// Edits compute all tokens and load nothing.
  bool in_full = false;
  /// A batch does not change until all of it has ended.
  bool whole_batches = false;
};

/// A policy that InstGenIE is compared with.
class instgenie_comparison : public planning::instgenie_policy {
public:
  explicit instgenie_comparison(instgenie_comparison_rules rules);

  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override;

  planning::choice choose(const planning::decision_context& by) const override;

  core::queue_id place(const planning::leg& next,
                       const planning::decision_context& by) const override;

protected:
  size_t pick(std::span<const planning::instgenie::edit_worker> workers,
              const planning::instgenie::edit_row& edit,
              const planning::instgenie::step_model& seconds) const override;

private:
  instgenie_comparison_rules own_;
};

/// Returns the rules of the baselines `request-balance`, `token-balance`,
/// `first-fit`, `static-batching` and `full-recompute` (which the paper calls
/// Diffusers). FISEdit and TeaCache differ only in kernels and are no policies.
std::vector<instgenie_comparison_rules> instgenie_comparisons();

} // namespace atelier::papers
