// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/log.hpp>
#include <atelier/ipc/arena.hpp>
#include <atelier/runtime/completions.hpp>
#include <atelier/runtime/host_cache.hpp>
#include <atelier/runtime/host_extensions.hpp>
#include <atelier/runtime/instruction_set.hpp>
#include <atelier/runtime/pipeline.hpp>
#include <atelier/runtime/profile_of.hpp>
#include <atelier/runtime/rundown.hpp>
#include <atelier/runtime/split/process_spawner.hpp>
#include <atelier/runtime/thread_offload.hpp>
#include <atelier/runtime/timeline_file.hpp>

#include <caf/logger.hpp>
#include <caf/scoped_actor.hpp>

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace atelier {

namespace runtime::detail {

/// How long a question about the state may wait for its answer.
inline constexpr core::timespan status_patience = std::chrono::seconds{2};

/// Maximum number of jobs that wait for the offload's thread.
inline constexpr size_t most_offloaded = 64;

/// A thread that spawns actors or waits for one keeps the actor system's log
/// from then on, and the system's destructor waits for that: a longer-lived
/// thread of the host would make it hang. This object releases the log at the
/// end of its scope.
struct borrowed_thread {
  borrowed_thread() = default;
  borrowed_thread(const borrowed_thread&) = delete;
  borrowed_thread& operator=(const borrowed_thread&) = delete;

  ~borrowed_thread() {
    caf::logger::set_current_actor_system(nullptr);
  }
};

} // namespace runtime::detail

/// Members are in the order of their construction; `end` destroys them.
struct engine::impl : runtime::completions_owner {
  /// Null if the level is `off`. The last to end.
  std::shared_ptr<core::started_log> log;
  runtime::instruction_set_hold instructions;
  config::settings settings;
  std::shared_ptr<const runtime::known_variants> known;
  /// A part of `known`.
  std::shared_ptr<const planning::profile> profile;
  /// The settings' models at the start (digests_of_models).
  std::vector<std::string> digests;
  runtime::host_extensions own;
  planning::policy_ptr policy;
  std::shared_ptr<const planning::plan> first_plan;
  /// Null if nothing is remembered.
  std::shared_ptr<index::kept_work> kept;
  /// Null if nothing is remembered.
  std::shared_ptr<index::match_prediction> predicts;
  std::shared_ptr<const planning::pipeline> stages;
  std::shared_ptr<ipc::arena_owner> arena;
  std::shared_ptr<actors::worker_directory> workers =
    std::make_shared<actors::worker_directory>();
  std::shared_ptr<actors::mailbox_scheduler_port> scheduler =
    std::make_shared<actors::mailbox_scheduler_port>();
  std::shared_ptr<actors::mailbox_supervision> watch =
    std::make_shared<actors::mailbox_supervision>();
  std::shared_ptr<runtime::thread_offload> offload =
    std::make_shared<runtime::thread_offload>(1,
                                              runtime::detail::most_offloaded);
  std::unique_ptr<runtime::system_config> actor_settings;
  std::unique_ptr<caf::actor_system> sys;
  std::shared_ptr<runtime::completions> clients;
  std::shared_ptr<runtime::process_spawner> processes;
  /// Null if none is wanted.
  std::shared_ptr<runtime::timeline_file> drawing;
  runtime::control_actors control;
  std::vector<caf::actor> pools;
  std::vector<runtime::device_part> devices;

  std::atomic<uint64_t> next_id{1};
  /// Admits submissions until stopping begins.
  runtime::rundown entrance;
  /// Admits all other calls from outside until `end` removes the actors.
  mutable runtime::rundown hall;
  std::mutex ending;
  /// The profile last reported, and its text.
  mutable std::mutex telling;
  mutable std::shared_ptr<const planning::profile> told;
  mutable std::optional<planning::hit_predictor> told_predictor;
  mutable std::vector<profile_status> told_texts;
  mutable std::mutex keeping;
  mutable engine_status kept_status;
  bool caller_runs_actors = true;
  /// Path of the timeline's file; empty: none is wanted.
  std::string timeline;
  /// Whether the policy may still be making its first plan.
  bool plans_late = false;
  /// Receives the log's lines; empty: they go to standard error.
  core::log_sink log_to;
  /// The process that started the engine.
  const pid_t process = getpid();
  /// Guarded by `ending`.
  bool ended = false;

  ~impl() override {
    end();
    if (clients && !clients->is_callback_thread())
      clients->join();
  }

  /// Returns why this process cannot use the engine, if it was forked from the
  /// engine's process.
  std::optional<core::error> belongs_elsewhere() const;

  core::result<void> begin(const engine_options& options);
  core::result<void> begin();
  /// The steps of `begin`: the models and their profile; the cache of earlier
  /// work; policy, first plan and stages; and with "split" what starts
  /// processes.
  core::result<void> know_models();
  core::result<void> open_cache();
  core::result<void> make_rules();
  core::result<void> make_spawner(std::string as_toml);
  core::result<void> spawn();
  core::result<void> wait_until_ready();
  bool ready(const actors::scheduler_status& s) const;
  /// Errors: the first failure of a device to load a variant at its start.
  core::result<void> all_loaded(const actors::scheduler_status& s) const;
  /// Whether the policy has planned for every device, or failed to.
  bool is_planned() const;
  /// Fills in the reported facts of a plan.
  void tell_plan(const planning::plan& plan, engine_status& s) const;
  /// Returns a profile as text, by kind of device; the last one's text is
  /// cached.
  /// @param measured the rates of the predictor of hits, if they are measured
  std::vector<profile_status> texts_of(
    std::shared_ptr<const planning::profile> x,
    std::optional<planning::hit_predictor> measured) const;
  /// Keeps a snapshot for last_status.
  void keep_status(const engine_status& x) const;
  /// Returns the last snapshot, as a stale one.
  engine_status last_status() const;
  /// Lets the policy make its first plan, as long as plan_patience; after that,
  /// returns vanilla's. Errors: ec::bad_config: the policy threw.
  core::result<std::shared_ptr<const planning::plan>> make_first_plan();
  void end();

  /// Wakes the threads that will work for the next request, ahead of it: with
  /// nothing open all of them sleep, and their wake-ups would follow one
  /// another.
  void rouse() const;

  template <class Actor, class T>
  std::optional<T> ask_status(const Actor& whom) const {
    std::optional<T> got;
    if (!sys || !whom)
      return got;
    const runtime::detail::borrowed_thread host;
    caf::scoped_actor self{*sys};
    self
      ->request(whom, runtime::detail::status_patience,
                actors::status_atom::value)
      .receive([&](T& x) { got = std::move(x); }, [](caf::error&) {});
    return got;
  }
};

} // namespace atelier
