// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/runtime/own_thread_calls.hpp>

#include <memory>
#include <string>
#include <vector>

namespace atelier::runtime {

/// A host's policy that cannot harm the engine. An exception, or an impossible
/// value, ends one decision: a plan is not made, so that the plan in force
/// stays; a request is rejected; `vanilla` makes any other decision. A plan
/// that takes longer than two minutes counts as failed; the policy is asked for
/// the next one once it has returned.
/// Threads: as planning::policy; it plans on threads of its own.
class host_policy final : public planning::policy {
public:
  /// Throws the exceptions of `own->name()`.
  /// @param plans runs its `replan`
  host_policy(planning::policy_ptr own,
              std::shared_ptr<own_thread_calls> plans);

  std::string_view name() const override {
    return name_;
  }

  /// Throws only std::exception.
  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override;

  planning::choice choose(const planning::decision_context& by) const override;

  core::queue_id place(const planning::leg& next,
                       const planning::decision_context& by) const override;

  planning::taken take(const planning::worker_view& worker,
                       std::span<const planning::waiting> queue,
                       const planning::plan& in_force,
                       core::time_point now) const override;

  bool plan_due(
    const planning::plan& in_force,
    std::span<const planning::retrieval_sample> last) const override;

  core::class_id admission_class(const core::request& wanted,
                                 const planning::facts& known,
                                 const planning::profile& costs,
                                 const planning::plan& in_force) const override;

  planning::plan_reasons explain(const planning::plan& made) const override;

  std::string_view memory_name() const override {
    return memory_name_;
  }

  planning::policy_memory kept(
    const planning::policy_memory& all) const override;

  std::string save(const planning::policy_memory& kept) const override;

  core::result<planning::policy_memory> restore(
    const planning::saved_memory& from) const override;

  bool may_take(core::route_id route,
                const planning::policy_memory& kept) const override;

  planning::compared compares(const planning::profile& known) const override;

private:
  planning::policy_ptr own_;
  std::shared_ptr<own_thread_calls> plans_;
  std::string name_;
  std::string memory_name_;
};

/// Returns a host's policies, each as a host_policy that plans by `plans`.
/// Errors: ec::bad_config with every fault, a line each: a null policy, and a
/// name that is empty, or in use by planning::policy_rows or by an earlier
/// policy.
core::result<planning::policy_list> host_policies(
  const planning::policy_list& own,
  const std::shared_ptr<own_thread_calls>& plans);

} // namespace atelier::runtime
