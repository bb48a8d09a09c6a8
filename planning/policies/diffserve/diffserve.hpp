// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/allocation.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>
#include <atelier/planning/random_judge.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// What the policies built on DiffServe's parts differ in.
struct diffserve_rules {
  enum class allocation_rule : uint8_t {
    /// The threshold by demand.
    cascade,
    /// One plan for all time: that of the profile, else that of its peak rate,
    /// else the first.
    once,
    /// The same, whatever plan the profile has.
    once_for_peak,
    /// The threshold of the plan for all time; workers and batches by demand.
    fixed_threshold,
    /// All workers on one variant.
    all_light,
    all_heavy,
    /// Variants drawn at random, nothing judged.
    random,
  };

  std::string name = "diffserve";
  allocation_rule allocate = allocation_rule::cascade;
  enum class queueing_rule : uint8_t {
    /// Waits by Little's law.
    little,
    /// Execution counts twice.
    doubled,
    /// None.
    ignored,
  };

  queueing_rule queueing = queueing_rule::little;
  /// Batches found by trial instead of planned.
  bool trial_batches = false;
  /// Never more deferred than where the measured quality is best.
  bool quality_cap = true;
  /// Straight to the heavy variant where everything would be deferred.
  bool bypass = true;
  /// Workers stay with their variants until moving them gains more than it
  /// costs.
  bool settles = true;
  /// A late request gets its light picture.
  bool light_fallback = true;
  /// One lane for each worker, chosen at random.
  bool worker_lanes = false;
  double provisioning = diffserve::generous_provisioning;
  /// A judge other than the cascade's; empty: that one.
  std::string judge;
};

/// A light picture for all, a judge, and a heavy picture for what does not
/// pass. Devices of several kinds are planned with as so many mean ones
/// (mean_over), as the paper knows one kind; what a batch takes, by which rows
/// are late, is that of its worker's kind.
class diffserve_policy : public vanilla {
public:
  diffserve_policy() = default;

  explicit diffserve_policy(diffserve_rules rules) : rules_(std::move(rules)) {}

  std::string_view name() const override {
    return rules_.name;
  }

  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override;

  choice choose(const decision_context& by) const override;

  core::lane_id place(const leg& next,
                      const decision_context& by) const override;

  taken take(const worker_view& worker, std::span<const waiting> queue,
             const plan& in_force, core::time_point now) const override;

  plan_reasons explain(const plan& made) const override;

  std::string_view memory_name() const override;
  policy_memory kept(const policy_memory& all) const override;
  core::result<policy_memory> restore(const saved_memory& from) const override;

private:
  diffserve_rules rules_;
};

/// Returns the rules of `diffserve`, `diffserve-paper`, its baselines
/// `diffserve-static`, `diffserve-peak`, `diffserve-proteus`, `random-cascade`,
/// `score-cascade`, `clip-cascade`, `light-aimd` and `heavy-aimd`, and, each
/// lacking one part, `static-threshold`, `no-queueing`, `no-waits` and `aimd`.
std::vector<diffserve_rules> all_diffserve_rules();

/// Returns the batches of a variant as measured at its native size, up to
/// `most_batch`, each with text, decoding and judging of all its pictures.
diffserve::leg_times leg_of(const profile& known, core::variant_id variant,
                            uint32_t most_batch, core::timespan judging);

} // namespace atelier::planning
