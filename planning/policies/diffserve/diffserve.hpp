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

/// The differences between the policies built on DiffServe's parts.
struct diffserve_rules {
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

  std::string name = "diffserve";
  allocation_rule allocate = allocation_rule::cascade;
  enum class queueing_rule : uint8_t {
    /// Waits by Little's law.
    little,
    /// Execution counts twice.
    doubled,
    /// Waits are ignored.
    ignored,
  };

  queueing_rule queueing = queueing_rule::little;
  /// Batches are found by trial instead of planned.
  bool trial_batches = false;
  /// The deferred fraction never exceeds the one with the best measured
  /// quality.
  bool quality_cap = true;
  /// Requests go directly to the heavy variant if all would be deferred.
  bool bypass = true;
  /// Workers keep their variants until moving them gains more than it costs.
  bool settles = true;
  /// A late request gets its light image.
  bool light_fallback = true;
  /// One queue for each worker, chosen at random.
  bool worker_lanes = false;
  double provisioning = diffserve::generous_provisioning;
  /// A judge other than the cascade's; empty: the cascade's.
  std::string judge;
};

/// Draws a light image for every request, judges it, and draws a heavy image if
/// it fails. Several kinds of devices are planned as the same number of mean
/// devices (mean_over), as the paper knows only one kind; the time of a batch,
/// which decides whether rows are late, is that of its worker's kind.
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
/// `most_batch`, each with the text, decoding and judging of all its images.
diffserve::leg_times leg_of(const profile& known, core::variant_id variant,
                            uint32_t most_batch, core::timespan judging);

} // namespace atelier::planning
