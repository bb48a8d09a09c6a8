// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/inline_unit.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/ports.hpp>

#include <caf/actor_addr.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace atelier::actors {

/// The workers of this process by their addresses: a handoff that is a mailbox.
/// Threads: any. What a worker says while it starts may be answered at once:
/// `add_new` keeps the answer waiting until the worker can be found.
class worker_directory : public handoff {
public:
  void add(preprocess_actor x);
  void add(denoise_step_actor x);
  void add(postprocess_actor x);

  /// Adds the worker that `make` spawns, and returns it.
  template <class Make>
  auto add_new(Make make) {
    const std::lock_guard guard{mutex_};
    auto x = make();
    place(x);
    return x;
  }

  /// Puts the work into the mailbox of the worker at that place. Work for a
  /// place where nobody is, or of the wrong kind, is dropped.
  void send(const worker_address& to, work what) override;

  /// Likewise, but the worker, if it was idle, runs with `here->run()`.
  void send(const worker_address& to, work what, inline_unit* here);

  /// From now on runs work that is short on the scheduler's own thread, right
  /// after the event that made it: with all actors in one process nothing is
  /// won by waking another thread for it.
  void run_on_the_spot(caf::actor_system& sys);

  void settle() override;

  /// Forgets all workers.
  void clear();

private:
  void place(preprocess_actor x);
  void place(denoise_step_actor x);
  void place(postprocess_actor x);

  std::optional<inline_unit> spot_;
  std::mutex mutex_;
  /// Guarded by the mutex.
  std::vector<preprocess_actor> preprocess_;
  std::vector<denoise_step_actor> denoise_step_;
  std::vector<postprocess_actor> postprocess_;
};

/// Reports that go to the scheduler's mailbox.
/// Threads: `connect` before the first `send`, then any.
class mailbox_hub_port : public hub_port {
public:
  void connect(scheduler_actor hub);
  void send(report what) override;

  /// Likewise, but the scheduler, if it was idle, runs with `here->run()`.
  void send(report what, inline_unit* here);

  void clear();

private:
  scheduler_actor hub_;
};

/// What the hub says to the supervisor and the planner, by mailbox.
/// Threads: `connect` before the first call, then any.
class mailbox_supervision : public supervision {
public:
  void connect(supervisor_actor watch, planner_actor plans);
  void suspect(ipc::process_life who, std::string why) override;
  void request_caused(ipc::process_life who) override;
  void cluster_changed(planning::cluster_view there) override;
  void clear();

private:
  supervisor_actor watch_;
  planner_actor plans_;
};

} // namespace atelier::actors
