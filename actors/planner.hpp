// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/core/offload.hpp>
#include <atelier/planning/policy.hpp>

#include <memory>

namespace atelier::actors {

/// What the planner is made of.
struct planner_config {
  scheduler_actor hub;
  monitor_actor counts;
  std::shared_ptr<const planning::policy> policy;
  std::shared_ptr<const planning::profile> profile;
  std::shared_ptr<const planning::plan> initial_plan;
  std::shared_ptr<core::offload> offload;
  /// Between two plans without an event, more than 0.
  core::timespan period = std::chrono::seconds{30};
  /// What the offload is told that solving takes.
  core::timespan expected = std::chrono::milliseconds{5};
  /// A solver that takes longer is given up.
  core::timespan patience = std::chrono::minutes{2};
  /// Between two plans for events.
  core::timespan least_gap{0};
  /// Whether a jump of the load is an event.
  bool on_jumps = true;
};

struct planner_state {
  static inline const char* name = "planner";

  planner_config config;
  planning::cluster_view there;
  std::shared_ptr<const planning::plan> in_force;
  planning::hosting_wishes wishes;
  /// Variants that the next plan tells to leave, hosted or not.
  std::vector<core::variant_id> told_to_leave;
  bool solving = false;
  /// Something changed while a plan was being made.
  bool again = false;
  /// That of the last solving.
  uint64_t number = 0;
  core::time_point solving_since;
  core::time_point last_event;
  bool event_waits = false;
  /// Devices of the last solving that ended.
  uint32_t solved_for = 0;
  /// Solvings that gave no plan.
  uint64_t failures = 0;
};

/// Makes plans, every period and when workers come or go or the load jumps, off
/// the path: the policy's `replan` runs on the offload, and nothing waits for
/// it. Where the offload takes no work, or the solver fails, or is late, the
/// plan in force stays and the next period tries again; a plan that comes after
/// its solver was given up is dropped.
/// Threads: never blocks.
planner_actor::behavior_type planner(self_of<planner_actor, planner_state> self,
                                     planner_config config);

} // namespace atelier::actors
