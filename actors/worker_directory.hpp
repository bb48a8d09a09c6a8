// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/inline_unit.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/core/enum_count.hpp>

#include <caf/actor_addr.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace atelier::actors {

/// The workers of this process by their addresses: a handoff by mailbox.
/// Threads: any. A message that a worker sends while it starts may be answered
///          at once: `add_new` makes the answer wait until the worker can be
///          found.
class worker_directory : public handoff {
public:
  /// @param in the pool to which it belongs
  void add(role in, stage_actor x);
  void add(denoise_step_actor x);

  /// Adds the worker that `make` spawns, and returns it.
  template <class Make>
  stage_actor add_new(role in, Make make) {
    const std::lock_guard guard{mutex_};
    stage_actor x = make();
    pool(in).push_back(x);
    return x;
  }

  template <class Make>
  denoise_step_actor add_new(Make make) {
    const std::lock_guard guard{mutex_};
    denoise_step_actor x = make();
    denoise_step_.push_back(x);
    return x;
  }

  /// Puts the work into the mailbox of the worker at that place. Work is
  /// dropped if the place has no worker or one of the wrong kind.
  core::result<void> send(const worker_address& to, work what) override;

  /// Sends in the same way, but a worker that was idle runs with `here->run()`.
  void send(const worker_address& to, work what, inline_unit* here);

  /// From now on runs short work on the scheduler's own thread, right after the
  /// event that made it: with all actors in one process, waking another thread
  /// for it gains nothing.
  void run_on_the_spot(caf::actor_system& sys);

  void settle() override;

  /// Forgets all workers.
  void clear();

private:
  std::vector<stage_actor>& pool(role of) {
    return pools_[static_cast<size_t>(of)];
  }

  std::optional<inline_unit> spot_;
  std::mutex mutex_;
  /// Guarded by the mutex; by role.
  std::array<std::vector<stage_actor>, core::enum_count<role>> pools_;
  std::vector<denoise_step_actor> denoise_step_;
};

/// Whether work is so short that waking another thread for it would cost more.
bool is_short(const work& x);

/// Sends reports to the scheduler's mailbox.
/// Threads: `connect` before the first `send`, then any.
class mailbox_scheduler_port : public scheduler_port {
public:
  void connect(scheduler_actor scheduler);
  void send(report what) override;

  /// Sends in the same way, but a scheduler that was idle runs with
  /// `here->run()`.
  void send(report what, inline_unit* here);

  void clear();

private:
  scheduler_actor scheduler_;
};

/// Sends the scheduler's reports to the supervisor and the planner, by mailbox.
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
