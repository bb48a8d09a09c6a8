// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/ports.hpp>
#include <atelier/actors/process_host.hpp>
#include <atelier/actors/worker_directory.hpp>
#include <atelier/gpu/device/virtual_executor.hpp>
#include <atelier/simulation/delayed_link.hpp>

#include <caf/actor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace atelier::runtime {

/// Course of one life of a process, if it is not interfered with.
struct process_script {
  core::timespan start_delay{0};
  /// Time from its start; it reads nothing meanwhile.
  core::timespan setup_delay{0};
  /// If it has a code, the process does not come up.
  core::error start_failure;
  /// Time from a kill, a crash or a request to leave to the confirmed exit.
  core::timespan exit_delay{0};
  /// A killed process continues until its exit: it cannot be interrupted.
  bool ignores_kill = false;
  /// It stays when it is asked to leave.
  bool ignores_leave = false;
};

/// The contents of a life of a process.
struct process_body {
  std::shared_ptr<actors::worker_directory> workers =
    std::make_shared<actors::worker_directory>();
  std::vector<caf::actor> actors;
  std::vector<std::shared_ptr<gpu::virtual_executor>> devices;
};

/// Configuration of the host; all members but `links` must be set.
struct simulated_host_config {
  std::shared_ptr<core::timers> timers;
  /// Spawns the workers of a part; their reports are sent to the given port.
  std::function<process_body(ipc::process_life, const std::string& part,
                             std::shared_ptr<actors::scheduler_port>)>
    spawn;
  /// Where reports and signs of life are sent.
  std::shared_ptr<actors::scheduler_port> scheduler;
  std::function<void(actors::pong)> sign;
  /// Called at each start.
  std::function<process_script(ipc::process_life)> script;
  /// Decides on each record of every ring.
  link_script links;
};

/// Processes that are groups of actors: they come up, hang, crash and exit by
/// script, with a ring in each direction. A dead process's outbound ring is
/// read to the end before its exit is reported; its inbound ring is dropped.
///
/// This object is also the handoff to their workers.
/// Threads: those that call it and its timers must be one at a time.
class simulated_host : public actors::process_host,
                       public actors::handoff,
                       public std::enable_shared_from_this<simulated_host> {
public:
  explicit simulated_host(simulated_host_config config);
  ~simulated_host() override;

  void connect(std::function<void(actors::process_started)> started,
               std::function<void(actors::process_exited)> exited) override;
  void start(ipc::process_life who, std::string part, bool bare) override;
  void ping(ipc::process_life who, uint64_t number) override;
  void ask_to_leave(ipc::process_life who) override;
  void kill(ipc::process_life who) override;

  /// Puts work into the process's ring; drops it if that life is over.
  core::result<void> send(const actors::worker_address& to,
                          actors::work what) override;

  // -- faults -----------------------------------------------------------------

  /// Ends a process at once.
  void crash(core::process_id which,
             actors::death cause = actors::death::crash);

  /// Stops a process, as SIGSTOP does: it is silent until it wakes or is
  /// killed.
  void hang(core::process_id which);
  void wake(core::process_id which);

  /// Makes a step of a row fail wherever it runs now.
  void fail_step(core::ticket who, uint32_t step, const core::error& why);

  /// Returns the life that is up; none if the process is down.
  const process_body* body(core::process_id which) const;

  /// Kills every actor, at the end.
  void clear();

private:
  struct life;
  class outbox;

  life* find(ipc::process_life who);
  life* up(core::process_id which);
  void come_up(life& x, const std::string& part);
  void set_up(life& x, const std::string& part);
  void end_actors(life& x);
  void end(life& x, std::string how, actors::death cause);
  void exit_later(life& x);

  simulated_host_config config_;
  std::function<void(actors::process_started)> started_;
  std::function<void(actors::process_exited)> exited_;
  std::map<core::process_id, std::unique_ptr<life>> lives_;
};

} // namespace atelier::runtime
