// SPDX-License-Identifier: Apache-2.0
#pragma once

// Connects the actors: the one place that spawns them, for engines, for the
// processes of engines, and for simulations. The differences between these are
// passed in as ports, clocks and settings.

#include <atelier/actors/denoise_step.hpp>
#include <atelier/actors/device_stage.hpp>
#include <atelier/actors/monitor.hpp>
#include <atelier/actors/planner.hpp>
#include <atelier/actors/scheduler_actor.hpp>
#include <atelier/actors/stage_worker.hpp>
#include <atelier/actors/supervisor.hpp>
#include <atelier/actors/worker_directory.hpp>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <memory>
#include <vector>

namespace atelier::actors {

/// The actors of the control part.
struct control_actors {
  scheduler_actor scheduler;
  monitor_actor monitor;
  planner_actor planner;
  supervisor_actor supervisor;
};

/// Their configuration. The links between them are filled in, and what the
/// planner shares with the scheduler: the policy, the profile and the first
/// plan, which the policy made for a cluster without workers.
struct control_config {
  scheduler_actor_config scheduler;
  monitor_config monitor;
  planner_config planner;
  supervisor_config supervisor;
  /// Where workers report, and where the scheduler reports on processes and
  /// workers.
  std::shared_ptr<mailbox_scheduler_port> reports;
  std::shared_ptr<mailbox_supervision> watch;
};

/// Spawns scheduler, monitor, planner and supervisor, and connects them.
control_actors spawn_control(caf::actor_system& sys, control_config with);

/// Workers of one kind: their number, and the orders that each holds at a time.
struct pool_size {
  role of = role::preprocess;
  uint32_t workers = 1;
  uint32_t seats = 1;
};

/// Spawns a pool's workers and adds them to `into`.
/// @param each their configuration; its place and seats are filled in
/// @param in the life of the process in which they live
std::vector<caf::actor> spawn_pool(caf::actor_system& sys,
                                   worker_directory& into, ipc::process_life in,
                                   pool_size size, stage_worker_config each);

/// Spawns a device's worker and adds it to `into`.
denoise_step_actor spawn_device(caf::actor_system& sys, worker_directory& into,
                                denoise_step_config with);

/// Spawns the worker that runs stages on a device and adds it to `into`.
stage_actor spawn_device_stage(caf::actor_system& sys, worker_directory& into,
                               device_stage_config with);

} // namespace atelier::actors
