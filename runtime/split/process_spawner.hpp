// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/ports.hpp>
#include <atelier/actors/process_host.hpp>
#include <atelier/ipc/arena.hpp>
#include <atelier/runtime/split/memory_kills.hpp>
#include <atelier/runtime/split/ring_link.hpp>

#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace atelier::runtime {

/// Implements the supervisor's interface with processes of the operating
/// system, and the rings that connect them with this one.
///
/// One thread starts all processes and lives as long as this object, since the
/// children die with the thread that started them. It waits for their ends with
/// pidfds, so that an end is certain, even of stopped processes.
/// Threads: any; events come from threads of this object.
class process_spawner : public actors::process_host, public actors::handoff {
public:
  struct options {
    std::shared_ptr<ipc::arena_owner> host;
    /// The program of the processes.
    std::string program;
    /// Their settings, as TOML, and the stages that they must know
    /// (planning::pipeline::signature).
    std::string settings;
    std::string stages;
    /// Called for each report to the scheduler and each pong to the supervisor,
    /// from one thread for each process.
    std::function<void(ipc::process_life, actors::from_process)> arrived;
  };

  explicit process_spawner(options how);

  ~process_spawner() override;

  /// Asks all processes to leave, waits for that at most `grace`, kills the
  /// others, and waits until they are gone. No event and no report follows.
  void end(core::timespan grace);

  void connect(std::function<void(actors::process_started)> started,
               std::function<void(actors::process_exited)> exited) override;
  void start(ipc::process_life who, std::string part) override;
  void ping(ipc::process_life who, uint64_t number) override;
  void ask_to_leave(ipc::process_life who) override;
  void kill(ipc::process_life who) override;

  void send(const actors::worker_address& to, actors::work what) override;

  /// Wakes the readers of all rings ahead of work that is about to arrive.
  void rouse();

private:
  struct child {
    int32_t pid = 0;
    int pidfd = -1;
    std::string end;
    actors::death cause = actors::death::outside;
    /// Killed by this program.
    bool killed = false;
    std::unique_ptr<ring_link> link;
    bool gone = false;
    bool told_to_leave = false;
  };

  struct order {
    ipc::process_life process;
    std::string part;
  };

  void loop();
  void spawn(const order& x);
  void reap(ipc::process_life who);
  actors::death cause_of(const siginfo_t& info, bool killed);
  void forget(ipc::process_life who);
  void wake();
  void send(ipc::process_life to, const actors::to_process& x);

  options how_;
  std::function<void(actors::process_started)> started_;
  std::function<void(actors::process_exited)> exited_;
  int wake_fd_ = -1;
  /// Used only by the thread.
  memory_kills memory_;

  std::mutex mutex_;
  /// Guarded by the mutex, like all members below except the thread.
  std::map<ipc::process_life, std::shared_ptr<child>> children_;
  std::vector<order> orders_;
  /// Links whose process is gone; the thread ends them.
  std::vector<std::shared_ptr<child>> ended_;
  bool stopping_ = false;
  core::time_point kill_at_ = core::never;
  // Last, so that it ends before the members that it uses.
  std::jthread thread_;
};

/// Returns the program of the other processes: `configured`, otherwise the one
/// installed beside this library, otherwise the one in the build tree.
/// Errors: ec::not_found; the text names the places that were tried.
core::result<std::string> find_process_program(const std::string& configured);

} // namespace atelier::runtime
