// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policy.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace atelier::planning {

/// Answers by one plan, whatever is asked: one that a file holds, to compare
/// with what a policy would do, or to run by. A plan's groups of workers name
/// no kind of device: of several, those take a part that load the least for it,
/// and what a batch takes is what the plan says of all.
class fixed_policy : public policy {
public:
  /// @param rules the policy that `what` names
  /// @param name what it is called in results
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

  core::lane_id place(const leg& next,
                      const decision_context& by) const override;

  taken take(const worker_view& worker, std::span<const waiting> queue,
             const plan& in_force, core::time_point now) const override;

  core::class_id admission_class(const core::request& wanted,
                                 const facts& known, const profile& costs,
                                 const plan& in_force) const override;

  plan_reasons explain(const plan& made) const override;

  compared compares(const profile& known) const override;

private:
  saved_plan what_;
  policy_ptr rules_;
  policy_ptr remembers_;
  std::string name_;
};

/// The name by which the policy is asked for.
inline constexpr std::string_view fixed_name = "fixed";

/// Reads the policy from the text of a plan file, which may name a policy of
/// `more`.
/// Errors: those of parse_plan.
core::result<policy_ptr> make_fixed(std::string_view json,
                                    std::string_view where,
                                    const profile& known,
                                    std::string name = std::string{fixed_name},
                                    const policy_list& more = {});

/// Returns how many of `there` workers each group gets: as many as it counts
/// where there are as many as planned, else in that ratio, by largest
/// remainders; one at least where there are as many workers as groups.
std::vector<uint32_t> workers_by_group(const saved_plan& of, size_t there);

} // namespace atelier::planning
