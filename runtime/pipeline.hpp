// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/process_host.hpp>
#include <atelier/actors/stages/standard.hpp>
#include <atelier/actors/wiring.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/offload.hpp>
#include <atelier/extensions.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/index/match_prediction.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/policy.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime {

/// CAF's own settings: a shared queue whose threads sleep until there is work
/// (the stealing scheduler polls, and notices work up to 10 ms late), and no
/// configuration file.
class system_config : public caf::actor_system_config {
public:
  explicit system_config(size_t threads);
};

/// Returns the time when rows join a batch, by `scheduler.batching`; none: as
/// plans say.
std::optional<planning::joining> joining_of(std::string_view batching);

/// The common arguments of all parts.
struct part_context {
  const config::settings& settings;
  std::shared_ptr<const planning::profile> profile;
  /// The stages of a request: the same in every process.
  std::shared_ptr<const planning::pipeline> stages;
  std::shared_ptr<ipc::slot_store> slots;
  /// The registry of this process's workers.
  std::shared_ptr<actors::worker_directory> workers;
  /// The receiver of the workers' reports.
  std::shared_ptr<actors::scheduler_port> scheduler;
  /// This process.
  ipc::process_life self;
  /// The host's.
  std::span<const host_executor> executors = {};
  /// Devices begin without models.
  bool bare = false;
  /// The settings' models at the engine's start (digests_of_models).
  std::span<const std::string> digests = {};
};

/// The additional arguments of the control part.
struct control_context {
  /// Reaches the workers of other processes; null: there are no others.
  std::shared_ptr<actors::handoff> others;
  std::shared_ptr<actors::gateway> clients;
  std::shared_ptr<actors::mailbox_scheduler_port> scheduler;
  std::shared_ptr<actors::mailbox_supervision> watch;
  std::shared_ptr<actors::process_host> processes;
  std::shared_ptr<core::offload> offload;
  std::shared_ptr<const planning::policy> policy;
  std::shared_ptr<const planning::plan> first_plan;
  uint32_t arena = 1;
  /// Null: no observer.
  std::shared_ptr<actors::timeline> drawing = nullptr;
};

using actors::control_actors;

/// One device's actors and its executor, which must outlive them.
struct device_part {
  actors::denoise_step_actor actor;
  /// Null: no stage runs on devices.
  actors::stage_actor stages;
  std::shared_ptr<gpu::executor> device;
};

/// Returns the pools of workers that the stages need: those of the CPU process,
/// that of background stages, and that of the devices.
/// @param stages as stages_of returned them
std::vector<actors::pool_size> pools_of(
  const config::settings& x,
  const std::shared_ptr<const planning::pipeline>& stages);

/// Spawns the worker of background stages; none if no stage is in the
/// background.
std::vector<caf::actor> spawn_recall(caf::actor_system& sys,
                                     const part_context& with);

/// Spawns scheduler, monitor, planner and supervisor.
control_actors spawn_control(caf::actor_system& sys, const part_context& with,
                             const control_context& control);

/// Returns the store of earlier work that the settings configure; null: none.
/// Only the control process, in which it is used, may open its folder.
/// @param digests those of digests_of_models
/// Errors: ec::bad_config where the folder cannot be made or opened, or another
///         process has it open; those of make_text_encoder and
///         make_image_encoder.
core::result<std::shared_ptr<index::kept_work>> kept_work_of(
  const config::settings& x, std::span<const std::string> digests);

/// Returns what stands for that store in the lists of the other processes,
/// which never use it; null: none.
std::shared_ptr<index::kept_work> kept_elsewhere(const config::settings& x);

/// Returns the predictor of searches in that store, with a thread of its own.
/// @param kept not null
std::shared_ptr<index::match_prediction> match_prediction_of(
  const config::settings& x, std::shared_ptr<index::kept_work> kept);

/// Returns the stages of a request by the settings, including a host's own.
/// @param kept the result of kept_work_of or kept_elsewhere
/// @param predicts null: nothing is predicted, as in the other processes
/// Errors: ec::bad_config, ec::invalid_argument: a host's stage has no place.
core::result<std::shared_ptr<const planning::pipeline>> stages_of(
  const config::settings& x, const std::vector<actors::added_stage>& more,
  const std::shared_ptr<index::kept_work>& kept,
  const std::shared_ptr<index::match_prediction>& predicts = nullptr);

/// Spawns the pools of the CPU process.
std::vector<caf::actor> spawn_cpu_pools(caf::actor_system& sys,
                                        const part_context& with);

/// Spawns the denoise-step actor of one device as worker `index` of this
/// process, and, if stages run on devices, the worker of these beside it.
/// Errors: ec::not_found if its executor is not built in.
core::result<device_part> spawn_device(caf::actor_system& sys,
                                       const part_context& with,
                                       const config::device_settings& device,
                                       uint32_t index);

/// Returns the parts that run in processes of their own: "cpu", then each
/// device's name. Empty for a single process.
std::vector<std::string> process_parts(const config::settings& x);

/// Returns the number of actor threads for control, pools or all in one.
size_t control_threads(const config::settings& x,
                       const std::shared_ptr<const planning::pipeline>& stages);
size_t cpu_threads(const config::settings& x);

} // namespace atelier::runtime
