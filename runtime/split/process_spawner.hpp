// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/ports.hpp>
#include <atelier/actors/process_host.hpp>
#include <atelier/core/descriptor.hpp>
#include <atelier/ipc/arena.hpp>
#include <atelier/runtime/split/memory_kills.hpp>
#include <atelier/runtime/split/reply_check.hpp>
#include <atelier/runtime/split/ring_link.hpp>
#include <atelier/runtime/split/worker_program.hpp>

#include <atomic>
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
/// pidfds, so that an end is certain, even of stopped processes; if the host
/// closes one, it opens another.
/// Threads: any; events come from threads of this object.
class process_spawner : public actors::process_host, public actors::handoff {
public:
  struct options {
    std::shared_ptr<ipc::arena_owner> host;
    /// The program of the processes, absolute.
    std::string program;
    /// Their settings, as TOML, and the stages that they must know
    /// (planning::pipeline::signature).
    std::string settings;
    std::string stages;
    /// The settings' models at the start (digests_of_models).
    std::vector<std::string> digests = {};
    /// How long `end` waits for the end of a killed process.
    core::timespan confirm = std::chrono::seconds{5};
    /// Called for each report to the scheduler, and for each pong and refusal
    /// to the supervisor, from one thread for each process.
    std::function<void(ipc::process_life, actors::from_process)> arrived;
  };

  /// Errors: ec::out_of_resources if no descriptor is left.
  static core::result<std::unique_ptr<process_spawner>> make(options how);

  ~process_spawner() override;

  /// Asks all processes to leave, waits for that at most `grace`, kills the
  /// others, and waits at most `confirm` until they are gone; processes that
  /// the kernel still holds then are logged and left to their parent's end. No
  /// event and no report follows.
  void end(core::timespan grace);

  void connect(std::function<void(actors::process_started)> started,
               std::function<void(actors::process_exited)> exited) override;
  void start(ipc::process_life who, std::string part, bool bare) override;
  void ping(ipc::process_life who, uint64_t number) override;
  void ask_to_leave(ipc::process_life who) override;
  void kill(ipc::process_life who) override;

  core::result<void> send(const actors::worker_address& to,
                          actors::work what) override;

  /// Wakes the readers of all rings ahead of work that is about to arrive.
  void rouse();

  /// Returns how many reports were dropped since they were not for their sender
  /// to make.
  uint64_t dropped_reports() const;

private:
  struct child {
    explicit child(ipc::process_life who) : check(who) {}

    child(const child&) = delete;
    child& operator=(const child&) = delete;

    int32_t pid = 0;
    core::descriptor pidfd;
    actors::process_exited end;
    /// Set if its next lives will end the same way until an operator acts.
    core::error fault;
    /// Killed by this program.
    bool killed = false;
    bool gone = false;
    bool told_to_leave = false;
    /// Its end cannot be waited for: a debugger that traces it hears of it
    /// first, or it has no pidfd.
    bool withheld = false;
    reply_check check;
    // Last, so that it ends before the check that its thread uses.
    std::unique_ptr<ring_link> link;
  };

  struct order {
    ipc::process_life process;
    std::string part;
    bool bare = false;
  };

  process_spawner(options how, worker_program program, core::descriptor wakes);

  void loop();
  void spawn(const order& x);
  core::result<void> bear(child& c, const order& x);
  void hear(child& c, ipc::process_life who, actors::from_process message);
  /// @param seen the events that poll found at its pidfd
  void reap(ipc::process_life who, int16_t seen);
  /// Asks the kernel for the end of a child as waitid does. Returns errno; 0:
  /// it answered.
  int ask_for_end(child& c, int how, siginfo_t& info);
  void note_closed();
  void take_wake_ups(int16_t seen);
  /// @param group of memory_kills::other_group
  actors::death cause_of(const child& c, const siginfo_t* info,
                         const std::string& group);
  void forget(ipc::process_life who);
  void leave_behind();
  void wake();
  /// Sends what is no order.
  void tell(ipc::process_life to, const actors::to_process& x);
  core::result<void> send(ipc::process_life to, const actors::to_process& x);

  options how_;
  worker_program program_;
  std::function<void(actors::process_started)> started_;
  std::function<void(actors::process_exited)> exited_;
  /// An eventfd that wakes the thread.
  core::descriptor wakes_;
  /// The host closed `wakes_`, whose number may have another use by now.
  std::atomic<bool> deaf_{false};
  /// Used only by the thread.
  memory_kills memory_;

  std::mutex mutex_;
  /// Guarded by the mutex, like all members below except the thread.
  std::map<ipc::process_life, std::shared_ptr<child>> children_;
  std::vector<order> orders_;
  /// Processes that are ordered and not among the children yet, and whether
  /// they are to be killed at once.
  std::map<ipc::process_life, bool> expected_;
  /// Links whose process is gone; the thread ends them.
  std::vector<std::shared_ptr<child>> ended_;
  bool stopping_ = false;
  bool told_closed_ = false;
  core::time_point kill_at_ = core::never;
  std::atomic<uint64_t> dropped_{0};
  // Last, so that it ends before the members that it uses.
  std::jthread thread_;
};

/// Returns the program of the other processes: `configured`, otherwise the one
/// installed beside this library, otherwise the one in the build tree.
/// Errors: ec::not_found; the text names the places that were tried.
core::result<std::string> find_process_program(const std::string& configured);

} // namespace atelier::runtime
