// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/argus/worker_choice.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// What the policies built on Argus' parts differ in.
struct argus_rules {
  enum class allocation_rule : uint8_t {
    /// Any worker runs any level of cached latents; counts for models.
    pooled,
    /// Eq. 1.
    counts,
    /// Every worker for itself.
    alone,
    /// All on the first, or on the last level.
    first,
    last,
  };

  enum class shift_rule : uint8_t {
    /// Predicted classes to the load's shares at the least degradation.
    exact,
    /// The same by the paper's Algorithm 1.
    published,
    /// Every prompt on its predicted level, whatever the load.
    none,
    /// A level drawn by the load's shares; nothing is predicted.
    by_load,
  };

  std::string name = "argus";
  allocation_rule allocate = allocation_rule::pooled;
  shift_rule shift = shift_rule::exact;
  /// Levels of cached latents too.
  bool latents = true;
  /// Smaller models where retrieval is slow, and back.
  bool changes = true;
  /// One lane for each worker instead of one for each variant.
  bool worker_lanes = false;
  argus::wait_rule wait = argus::wait_rule::with_own;
  /// Any worker of the level, instead of the one of least wait.
  bool any_worker = false;
  /// Workers stay with their models until moving them gains more than it costs.
  bool settles = true;
  /// Backlog counts in the load, which is then a mean over longer.
  bool backlog = true;
  /// The load is multiplied by it: filling all workers to the brim missed 8.6 %
  /// of deadlines, with this head-room 4.8 %.
  double head_room = 1.05;
  /// Share of requests that run in full, so that the cache gets new early
  /// states; less where there is no time for so many.
  double fresh = 0.02;
};

/// Predicted levels, and shares that reconcile them with the load. Devices of
/// several kinds are planned with as so many mean ones (mean_over), as the
/// paper knows one kind; a request goes to a worker by what it takes there.
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
