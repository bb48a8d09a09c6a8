// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/admission.hpp>
#include <atelier/planning/pipeline.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/route_slots.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace atelier::actors {

/// The rules that requests follow: the policy, the plan in force, and whom the
/// plan admits. This part of the scheduler has no row, no worker and no queue.
/// Threads: one at a time.
class rules {
public:
  /// @param seed the key of the policy's random choices
  rules(std::shared_ptr<const planning::policy> policy,
        std::shared_ptr<const planning::plan> plan,
        const planning::pipeline& stages, uint64_t seed);

  const planning::policy& policy() const {
    return *policy_;
  }

  const std::shared_ptr<const planning::plan>& plan() const {
    return plan_;
  }

  /// Returns the slots of the plan's routes.
  const std::shared_ptr<const planning::route_slots>& route_slots() const {
    return slots_;
  }

  /// Follows a plan from now on. Returns false, and changes nothing, if it is
  /// not newer than the one in force.
  bool follow(std::shared_ptr<const planning::plan> plan,
              const planning::pipeline& stages, core::time_point now);

  /// Returns the random numbers of a request's choices.
  core::philox random(core::request_id id) const;

  /// Returns the time after which the plan admits a request; 0: now, and it is
  /// counted.
  core::timespan admit(const core::request& wanted,
                       const planning::facts& known,
                       const planning::profile& costs, bool below_share,
                       core::time_point now);

  /// Whether retrievals call for another plan; once per plan, since that one
  /// takes all of them into account.
  bool calls_for_plan(std::span<const planning::retrieval_sample> kept);

private:
  std::shared_ptr<const planning::policy> policy_;
  std::shared_ptr<const planning::plan> plan_;
  std::shared_ptr<const planning::route_slots> slots_;
  uint64_t seed_;
  planning::admission admission_;
  /// Version of the last plan after which retrievals called for another one.
  std::optional<uint64_t> called_for_;
};

} // namespace atelier::actors
