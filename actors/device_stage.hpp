// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/core/time.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/pipeline.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace atelier::actors {

/// Configuration of the worker that runs stages on a device.
struct device_stage_config {
  worker_address self;
  /// Name of the device, such as "cuda:0".
  std::string device;
  std::shared_ptr<const planning::pipeline> stages;
  std::shared_ptr<ipc::slot_store> slots;
  std::shared_ptr<scheduler_port> scheduler;
  std::shared_ptr<gpu::executor> device_executor;
  /// Handles the work's news on the thread that delivers them, if that is a
  /// single thread of the executor's own.
  bool on_executor_thread = false;
  /// The clock of the device's thread.
  std::function<core::time_point()> now = std::chrono::steady_clock::now;
};

struct device_stage_state {
  static inline const char* name = "device_stage";

  device_stage_config config;
  /// Orders that are not answered.
  std::set<core::ticket> open;
};

/// Runs a host's stages on a device's own thread, between the runs of its
/// steps: one at a time, so that steps wait for one stage at most. The worker
/// reports an order as `stepping` right before its work, on the device's
/// thread, so that a death names what the device did.
/// Threads: waits for nothing.
device_stage_actor::behavior_type device_stage(
  self_of<device_stage_actor, device_stage_state> self,
  device_stage_config config);

} // namespace atelier::actors
