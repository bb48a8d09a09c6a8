// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/modm/control.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// The differences between `modm`, `modm-paper` and `modm-paper-quality`.
struct modm_rules {
  std::string name = "modm";
  /// The split stays until another gains more than its loads cost, instead of
  /// following the controller.
  bool settles = true;
  modm::split_rules split;
  /// Large workers take hits if no miss waits, in either mode.
  bool share_hits = true;
  /// The backlog counts as load.
  bool backlog = true;
};

/// Refines cached images on small models, and draws the others on a large one;
/// a controller splits the workers. Several kinds of devices are planned as the
/// same number of mean devices (mean_over), as the paper knows only one kind.
class modm_policy : public vanilla {
public:
  modm_policy() = default;

  explicit modm_policy(modm_rules rules) : rules_(std::move(rules)) {}

  std::string_view name() const override {
    return rules_.name;
  }

  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override;

  choice choose(const decision_context& by) const override;

  taken take(const worker_view& worker, std::span<const waiting> queue,
             const plan& in_force, core::time_point now) const override;

  compared compares(const profile& known) const override;

  std::string_view memory_name() const override;
  policy_memory kept(const policy_memory& all) const override;
  core::result<policy_memory> restore(const saved_memory& from) const override;

private:
  modm_rules rules_;
};

/// Returns the rules of `modm`, `modm-paper` (its throughput mode) and
/// `modm-paper-quality`.
std::vector<modm_rules> all_modm_rules();

} // namespace atelier::planning
