// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/diffserve.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace atelier::papers {

/// The differences between the policies that DiffServe is compared with. As
/// they stand, they make the policy of the rules from which this is derived.
struct diffserve_comparison_rules : planning::diffserve_rules {
  enum class allocation_rule : uint8_t {
    /// The threshold follows the demand.
    cascade,
    /// One plan that never changes: that of the profile, otherwise one for its
    /// peak rate, otherwise one for the first demand.
    once,
    /// One plan that never changes, whatever plan the profile has.
    once_for_peak,
    /// The threshold of the plan that never changes; workers and batches follow
    /// the demand.
    fixed_threshold,
    /// All workers run one variant.
    all_light,
    all_heavy,
    /// Variants are drawn at random, and no image is judged.
    random,
  };

  enum class queueing_rule : uint8_t {
    /// Waits by Little's law.
    little,
    /// Execution counts twice.
    doubled,
    /// Waits are ignored.
    ignored,
  };

  allocation_rule allocate = allocation_rule::cascade;
  queueing_rule queueing = queueing_rule::little;
  /// Batches are found by trial instead of planned.
  bool trial_batches = false;
  /// A judge other than the cascade's; empty: the cascade's.
  std::string judge;
};

/// A policy that DiffServe is compared with.
class diffserve_comparison : public planning::diffserve_policy {
public:
  explicit diffserve_comparison(diffserve_comparison_rules rules)
    : diffserve_policy(rules), own_(std::move(rules)) {}

protected:
  std::string judge_of(const planning::cascade_profile& of) const override;

  planning::diffserve::deferral_profile deferral(
    const planning::cascade_profile& of,
    const planning::diffserve::deferral_counts& seen) const override;

  core::result<planning::diffserve::cascade_plan> decide(
    const planning::cascade_case& x,
    planning::diffserve_memory& memory) const override;

  core::result<planning::diffserve::cascade_plan> planned(
    const planning::cascade_case& x,
    planning::diffserve_memory& memory) const override;

  planning::cascade_shares shares_of(
    const planning::diffserve::cascade_plan& p) const override;

  bool tells_feasibility() const override;

private:
  diffserve_comparison_rules own_;
};

/// Returns the rules of DiffServe's baselines `diffserve-static`,
/// `diffserve-peak`, `diffserve-proteus`, `random-cascade`, `score-cascade`,
/// `clip-cascade`, `light-aimd` and `heavy-aimd`, and, each lacking one part of
/// `diffserve-paper`, `static-threshold`, `no-queueing`, `no-waits` and `aimd`.
std::vector<diffserve_comparison_rules> diffserve_comparisons();

} // namespace atelier::papers
