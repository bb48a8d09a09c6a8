// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policy.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace atelier::planning {

/// Answers by one plan, whatever the demand: a plan from a file, for comparison
/// with a policy's plans or for production. A plan's groups of workers do not
/// name a kind of device: with several kinds, a group gets the workers that
/// load the least for it, and the time of a batch is the plan's for all kinds.
class fixed_policy : public policy {
public:
  /// @param rules the policy that `what` names
  /// @param name its name in results
  /// @param remembers the policy whose memory `what` has; null: `rules`
  fixed_policy(saved_plan what, policy_ptr rules, std::string name,
               policy_ptr remembers = nullptr);

  std::string_view name() const override {
    return name_;
  }

  /// @pre the profile has the variants that the plan was read for
  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override;

  choice choose(const decision_context& by) const override;

  core::queue_id place(const leg& next,
                       const decision_context& by) const override;

  taken take(const worker_view& worker, std::span<const waiting> queue,
             const plan& in_force, core::time_point now) const override;

  core::class_id admission_class(const core::request& wanted,
                                 const facts& known, const profile& costs,
                                 const plan& in_force) const override;

  plan_reasons explain(const plan& made) const override;

  compared compares(const profile& known) const override;

  std::optional<assumed_thresholds> assumes(
    const profile& known) const override;

private:
  saved_plan what_;
  policy_ptr rules_;
  policy_ptr remembers_;
  std::string name_;
};

/// The name by which users select the policy.
inline constexpr std::string_view fixed_name = "fixed";

/// Reads the policy from the text of a plan file, which may name a policy of
/// `more`.
/// Errors: those of parse_plan.
core::result<policy_ptr> make_fixed(std::string_view json,
                                    std::string_view where,
                                    const profile& known,
                                    std::string name = std::string{fixed_name},
                                    const policy_list& more = {});

/// Returns how many of `there` workers each group gets: its planned count if
/// the number of workers is as planned, otherwise in that ratio, by largest
/// remainders; at least one if there are at least as many workers as groups.
std::vector<uint32_t> workers_by_group(const saved_plan& of, size_t there);

} // namespace atelier::planning
