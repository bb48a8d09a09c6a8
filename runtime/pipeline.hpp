// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/hub.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/process_host.hpp>
#include <atelier/actors/worker_directory.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/offload.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/policy.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime {

/// CAF's own settings: a shared queue whose threads sleep until there is work
/// (the stealing one polls, and notices work up to 10 ms late), and no file of
/// its own.
class system_config : public caf::actor_system_config {
public:
  explicit system_config(size_t threads);
};

/// Returns when rows join a batch by the setting `scheduler.batching`; none: as
/// plans say.
std::optional<planning::joining> joining_of(std::string_view batching);

/// What every part is made from.
struct part_context {
  const config::settings& settings;
  std::shared_ptr<const planning::profile> profile;
  std::shared_ptr<ipc::slot_store> slots;
  /// Where the workers of this process are entered.
  std::shared_ptr<actors::worker_directory> workers;
  /// Where they report.
  std::shared_ptr<actors::hub_port> hub;
  /// This process.
  ipc::process_life self;
};

/// What the control part needs besides.
struct control_context {
  std::shared_ptr<actors::handoff> workers;
  std::shared_ptr<actors::gateway> clients;
  std::shared_ptr<actors::mailbox_hub_port> hub;
  std::shared_ptr<actors::mailbox_supervision> watch;
  std::shared_ptr<actors::process_host> processes;
  std::shared_ptr<core::offload> offload;
  std::shared_ptr<const planning::policy> policy;
  uint32_t arena = 1;
  /// Null: nobody looks.
  std::shared_ptr<actors::timeline> drawing = nullptr;
};

/// The actors of the control part.
struct control_actors {
  actors::scheduler_actor scheduler;
  actors::monitor_actor monitor;
  actors::planner_actor planner;
  actors::supervisor_actor supervisor;
};

/// One device's actor and the executor behind it, which is to outlive it.
struct device_part {
  actors::denoise_step_actor actor;
  std::shared_ptr<gpu::executor> device;
};

// In path order: this is the only place that spawns.

/// Spawns scheduler, monitor, planner and supervisor.
control_actors spawn_control(caf::actor_system& sys, const part_context& with,
                             const control_context& control);

/// Spawns the preprocess and postprocess pools.
std::vector<caf::actor> spawn_cpu_pools(caf::actor_system& sys,
                                        const part_context& with);

/// Spawns the denoise-step actor of one device as worker `index` of this
/// process.
/// Errors: ec::not_found where its executor is not built in.
core::result<device_part> spawn_device(caf::actor_system& sys,
                                       const part_context& with,
                                       const config::device_settings& device,
                                       uint32_t index);

/// Returns the parts that run in processes of their own: "cpu", then each
/// device's name. Empty for a single process.
std::vector<std::string> process_parts(const config::settings& x);

/// Returns the number of actor threads for control, pools or all in one.
size_t control_threads(const config::settings& x);
size_t cpu_threads(const config::settings& x);

} // namespace atelier::runtime
