// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/process_host.hpp>
#include <atelier/actors/restart_pause.hpp>
#include <atelier/config/settings.hpp>

#include <memory>
#include <string>
#include <vector>

namespace atelier::actors {

/// What the supervisor is made of.
struct supervisor_config {
  scheduler_actor hub;
  /// Null where all actors live in this process.
  std::shared_ptr<process_host> host;
  /// What each process is to be: "cpu", or a device's name. Process i of the
  /// arena is parts[i - 1].
  std::vector<std::string> parts;
  config::process_settings settings;
};

struct supervisor_state {
  static inline const char* name = "supervisor";

  /// Where a process stands.
  enum class stage : uint8_t {
    /// To be started at `due`.
    down,
    starting,
    /// There, but has not answered yet: it reads nothing while it makes what it
    /// consists of, which takes long where models are loaded.
    setting_up,
    up,
    /// Killed; its exit is to be confirmed until `due`.
    suspected,
    /// Its exit was not confirmed in time: the hub went on without it.
    unconfirmed,
    /// Will not be started again.
    over,
  };

  struct process {
    std::string part;
    stage at = stage::down;
    core::incarnation life;
    int32_t pid = 0;
    uint32_t restarts = 0;
    core::time_point due;
    core::time_point last_sign;
    core::time_point last_ping;
    /// It answered once in this life.
    bool was_up = false;
    /// Why its last life could not be set up.
    core::error refusal = {};
    past_deaths deaths;
    /// Handlers that waited: in lives before, and in this one as it last said.
    std::vector<blocked_handlers> blocked_before;
    std::vector<blocked_handlers> blocked;
  };

  supervisor_config config;
  std::vector<process> processes;
  uint64_t pings = 0;
  bool started = false;
  bool stopping = false;
  /// Once stopping: who is still there then is killed.
  core::time_point leave_by;

  process* find(ipc::process_life who);
  ipc::process_life life_of(const process& p) const;
};

/// Keeps every configured process alive: pings it, kills what is silent, or not
/// set up in time, waits
/// for the confirmed exit, tells the scheduler, starts the next life after a
/// pause (restart_pause.hpp).
/// Threads: never blocks.
supervisor_actor::behavior_type supervisor(
  self_of<supervisor_actor, supervisor_state> self, supervisor_config config);

} // namespace atelier::actors
