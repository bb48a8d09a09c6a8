// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/argus/worker_choice.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// The differences between the policies built on Argus' parts.
struct argus_rules {
  enum class allocation_rule : uint8_t {
    /// Any worker runs any level of cached latents; models have counts of
    /// workers.
    pooled,
    /// Eq. 1.
    counts,
    /// Every worker decides for itself.
    alone,
    /// All workers run the first, or the last level.
    first,
    last,
  };

  enum class shift_rule : uint8_t {
    /// Predicted classes are mapped to the load's shares with the least
    /// degradation.
    exact,
    /// The same by the paper's Algorithm 1.
    published,
    /// Every prompt runs on its predicted level, whatever the load.
    none,
    /// Levels are drawn by the load's shares, without a prediction.
    by_load,
  };

  std::string name = "argus";
  allocation_rule allocate = allocation_rule::pooled;
  shift_rule shift = shift_rule::exact;
  /// Levels of cached latents are also used.
  bool latents = true;
  /// The policy changes to smaller models when retrieval is slow, and back.
  bool changes = true;
  /// One queue for each worker instead of one for each variant.
  bool worker_lanes = false;
  argus::wait_rule wait = argus::wait_rule::with_own;
  /// A request takes any worker of the level, instead of the one with the
  /// shortest wait.
  bool any_worker = false;
  /// Workers keep their models until moving them gains more than it costs.
  bool settles = true;
  /// The backlog counts as load, whose mean is then taken over a longer time.
  bool backlog = true;
  /// The load is multiplied by this factor: planning for full use of all
  /// workers missed 8.6 % of deadlines, this headroom 4.8 %.
  double head_room = 1.05;
  /// The fraction of requests that run in full, so that the cache gets new
  /// early states; it is smaller if the load leaves no time for that many.
  double fresh = 0.02;
};

/// Predicts levels, and reconciles them with the load by shares. Several kinds
/// of devices are planned as the same number of mean devices (mean_over), as
/// the paper knows only one kind; the choice of a worker uses the costs there.
class argus_policy : public vanilla {
public:
  argus_policy() = default;

  explicit argus_policy(argus_rules rules) : rules_(std::move(rules)) {}

  std::string_view name() const override {
    return rules_.name;
  }

  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override;

  choice choose(const decision_context& by) const override;

  compared compares(const profile& known) const override;

  core::lane_id place(const leg& next,
                      const decision_context& by) const override;

  bool plan_due(const plan& in_force,
                std::span<const retrieval_sample> last) const override;

  std::string_view memory_name() const override;
  policy_memory kept(const policy_memory& all) const override;
  std::string save(const policy_memory& kept) const override;
  core::result<policy_memory> restore(const saved_memory& from) const override;

private:
  argus_rules rules_;
};

/// Returns the rules of `argus`, `argus-paper`, `pac`, `proteus`, `sommelier`,
/// `clipper-heavy`, `clipper-light` and, each lacking one part,
/// `argus-no-classifier`, `argus-no-shift` and `argus-no-switch`.
std::vector<argus_rules> all_argus_rules();

} // namespace atelier::planning
