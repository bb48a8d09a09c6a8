// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/process_host.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/running_clock.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::actors {

/// Configuration of the supervisor.
struct supervisor_config {
  scheduler_actor scheduler;
  /// Null if all actors live in this process.
  std::shared_ptr<process_host> host;
  /// The part of each process: "cpu", or a device's name. Process i of the
  /// arena is parts[i - 1].
  std::vector<std::string> parts;
  config::process_settings settings;
};

struct supervisor_state {
  static inline const char* name = "supervisor";

  /// Recent deaths of a process.
  struct past_deaths {
    std::optional<core::time_point> last;
    /// The pause after the last death; 0 if that death does not lengthen the
    /// next pause.
    core::timespan pause{0};
  };

  /// State of a process.
  enum class stage : uint8_t {
    /// To be started at `due`.
    down,
    starting,
    /// Started, but has not answered yet: it reads nothing while it creates its
    /// actors, which takes long if models are loaded.
    setting_up,
    up,
    /// Killed; its exit must be confirmed by `due`.
    suspected,
    /// Its exit was not confirmed in time: the scheduler continued without it.
    unconfirmed,
    /// Will not be started again.
    over,
  };

  struct process {
    std::string part;
    supervisor_state::stage stage = supervisor_state::stage::down;
    core::incarnation life;
    int32_t pid = 0;
    uint32_t restarts = 0;
    core::time_point due;
    core::time_point last_sign;
    core::time_point last_ping;
    /// When it last got more time, after a pause of this process.
    std::optional<core::time_point> reprieved;
    /// A life of it ended by itself before it was set up, perhaps by a model:
    /// since then it loads its models only when it is there.
    bool bare = false;
    /// It answered once in this life.
    bool was_up = false;
    /// Why its last life could not be started or set up.
    core::error refusal = {};
    past_deaths deaths;
    /// Handlers that waited: in earlier lives, and in this one as last
    /// reported.
    std::vector<blocked_handlers> blocked_before;
    std::vector<blocked_handlers> blocked;
  };

  supervisor_config config;
  /// Measures every time below: a pause of this process is not
  /// the silence of others.
  std::optional<core::running_clock> clock;
  std::vector<process> processes;
  uint64_t pings = 0;
  bool started = false;
  bool stopping = false;
  /// Once stopping: processes that still run then are killed.
  core::time_point leave_by;

  process* find(ipc::process_life who);
  ipc::process_life life_of(const process& p) const;
};

/// Keeps every configured process alive. It pings each one, kills those that
/// are silent or not set up in time, waits for the confirmed exit, notifies the
/// scheduler, and starts the next life after a pause. After a pause of its own
/// process it asks all anew before it finds one silent.
/// Threads: never blocks.
supervisor_actor::behavior_type supervisor(
  self_of<supervisor_actor, supervisor_state> self, supervisor_config config);

} // namespace atelier::actors
