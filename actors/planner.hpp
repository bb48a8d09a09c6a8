// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/core/offload.hpp>
#include <atelier/planning/policy.hpp>

#include <memory>

namespace atelier::actors {

/// Configuration of the planner.
struct planner_config {
  scheduler_actor scheduler;
  monitor_actor counts;
  std::shared_ptr<const planning::policy> policy;
  std::shared_ptr<const planning::profile> profile;
  std::shared_ptr<const planning::plan> initial_plan;
  std::shared_ptr<core::offload> offload;
  /// Time between two plans without an event, more than 0.
  core::timespan period = std::chrono::seconds{30};
  /// Expected solving time that is passed to the offload.
  core::timespan expected = std::chrono::milliseconds{5};
  /// A solver that takes longer is abandoned.
  core::timespan patience = std::chrono::minutes{2};
  /// Minimum time between two plans for events.
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
  /// Variants that the next plan unloads, hosted or not.
  std::vector<core::variant_id> told_to_leave;
  bool solving = false;
  /// Something changed while a plan was being made.
  bool again = false;
  /// Number of the last solve.
  uint64_t number = 0;
  core::time_point solving_since;
  core::time_point last_event;
  bool event_waits = false;
  /// Number of devices of the last solve that ended.
  uint32_t solved_for = 0;
  /// Number of solves that gave no plan.
  uint64_t failures = 0;
};

/// Makes plans every period, and when workers join or leave or the load jumps.
/// It runs off the path: the policy's `replan` runs on the offload, and
/// nothing waits for it. If the offload takes no work, or the solver fails or
/// is late, the plan in force stays and the next period tries again. A plan
/// that arrives after its solver was abandoned is dropped.
/// Threads: never blocks.
planner_actor::behavior_type planner(self_of<planner_actor, planner_state> self,
                                     planner_config config);

} // namespace atelier::actors
