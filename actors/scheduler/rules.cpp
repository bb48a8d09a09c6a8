// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/rules.hpp>

#include <utility>

namespace atelier::actors {

rules::rules(std::shared_ptr<const planning::policy> policy,
             std::shared_ptr<const planning::plan> plan,
             const planning::pipeline& stages, uint64_t seed)
  : policy_(std::move(policy)),
    plan_(std::move(plan)),
    slots_(
      std::make_shared<const planning::route_slots>(stages, plan_->routes)),
    seed_(seed) {}

bool rules::follow(std::shared_ptr<const planning::plan> plan,
                   const planning::pipeline& stages, core::time_point now) {
  if (plan->version <= plan_->version)
    return false;
  // Most plans share out the same routes in another way.
  if (plan->routes != plan_->routes)
    slots_ =
      std::make_shared<const planning::route_slots>(stages, plan->routes);
  plan_ = std::move(plan);
  admission_.follow(*plan_, now);
  return true;
}

core::philox rules::random(core::request_id id) const {
  return core::philox{seed_, core::purpose::routing, id};
}

core::timespan rules::admit(const core::request& wanted,
                            const planning::facts& known,
                            const planning::profile& costs, bool below_share,
                            core::time_point now) {
  using claim = planning::admission::claim;
  return admission_.admit(
    policy_->admission_class(wanted, known, costs, *plan_), wanted.prio, now,
    below_share ? claim::below_share : claim::usual);
}

bool rules::calls_for_plan(std::span<const planning::retrieval_sample> kept) {
  if (called_for_ == plan_->version || !policy_->plan_due(*plan_, kept))
    return false;
  called_for_ = plan_->version;
  return true;
}

} // namespace atelier::actors
