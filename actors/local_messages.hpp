// SPDX-License-Identifier: Apache-2.0
#pragma once

// Messages that never leave the process; they may carry shared immutable data.

#include <atelier/actors/counters.hpp>
#include <atelier/actors/messages.hpp>
#include <atelier/actors/recovery_watch.hpp>
#include <atelier/core/error.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/ipc/keeper.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>

#include <caf/actor_addr.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atelier::actors {

/// A valid request enters.
struct submit {
  std::shared_ptr<const core::request> request;
  /// The suspicion that an earlier server recorded against it.
  core::suspicion held = {};
  /// The client records suspicions against it: a trial alone waits for that
  /// (`trial_noted`).
  bool keeps_suspicion = false;
};

/// The client recorded that the request is about to be tried alone.
struct trial_noted {
  core::request_id id;
};

/// The client cancels its request.
struct cancel_request {
  core::request_id id;
};

/// The gateway copied the answer's image out of its slot.
struct taken_answer {
  core::request_id id;
};

/// The planner publishes a plan.
struct publish_plan {
  std::shared_ptr<const planning::plan> plan;
};

/// A worker joined or left.
struct cluster_changed {
  planning::cluster_view there;
};

/// The scheduler finds a process silent.
struct suspect_process {
  ipc::process_life process;
  std::string why;
};

/// The supervisor reports that a process life may be dead.
struct process_suspected {
  ipc::process_life process;
};

/// How a process ended.
enum class death : uint8_t {
  /// A signal of its own making, or an exit that was not requested.
  crash,
  /// Killed by this program because it was silent or wrote nonsense.
  watchdog,
  /// Killed by the kernel for memory.
  memory,
  /// Anything else: an operator, or an unknown cause.
  outside,
};

/// Returns what became of a process, for sentences: "crashed".
std::string_view to_string(death x);

/// Whether a request may be to blame for the death.
constexpr bool may_be_of_a_request(death x) {
  return x != death::outside;
}

/// The supervisor reports that a process life has ended. Everything that it
/// wrote was delivered before. If `confirmed` is false the process may still
/// exist, so its slots stay quarantined until a second, confirmed message.
struct process_lost {
  ipc::process_life process;
  bool confirmed = true;
  death cause = death::outside;
};

/// The scheduler reports that a request caused the end of a process.
struct request_caused {
  ipc::process_life process;
};

/// The planner's offload ended, with a plan or an error.
struct plan_made {
  /// Number of the work; the result of an older one arrives too late.
  uint64_t number = 0;
  /// Number of devices for which it was solved.
  uint32_t devices = 0;
  std::shared_ptr<const planning::plan> plan;
  core::error failure;
};

/// The planner's state.
struct planner_status {
  /// Number of devices of the last solve that ended, with or without a plan.
  uint32_t devices = 0;
};

/// An operator wants variants to be loaded or removed.
struct wish_hosting {
  std::vector<core::variant_id> variants;
  bool there = true;
};

/// The planner subscribes to jumps of the load.
struct watch_load {
  caf::actor_addr planner;
};

/// Requests per second: the measured rate and the planned rate.
struct load_jumped {
  double came = 0;
  double planned = 0;
};

/// One worker, for human readers.
struct worker_line {
  std::string device;
  std::vector<std::string> variants;
  uint32_t seats_taken = 0;
  uint32_t seats = 0;
  uint32_t max_batch = 0;
  /// It is loading the variants that a plan assigns to it.
  bool loading = false;
  /// It takes several times as long as others, so plans leave it out.
  bool slow = false;
  /// The variants that it could not load when it last tried.
  std::vector<gpu::load_failure> failed;
};

/// The scheduler's state, for human readers.
struct scheduler_status {
  counters counts;
  uint32_t waiting = 0;
  uint32_t running = 0;
  uint32_t slots = 0;
  uint32_t slots_in_use = 0;
  /// The plan in force.
  std::shared_ptr<const planning::plan> plan;
  /// The profile that plans use, with what was measured since the start.
  std::shared_ptr<const planning::profile> profile;
  /// Number of workers that have joined each pool.
  std::map<role, uint32_t> pool_workers;
  /// One line per device.
  std::vector<worker_line> workers;
  recovery_counts recovery;
};

/// One process, for human readers.
struct process_line {
  std::string part;
  int32_t pid = 0;
  uint32_t restarts = 0;
  bool alive = false;
  /// Totals over all its lives.
  std::vector<blocked_handlers> blocked = {};
  /// It is set up and answers.
  bool ready = false;
  /// Why it could not be set up; ec::none if it could, or has not reported yet.
  core::error refusal = {};
};

/// A process was started, or its start failed.
struct process_started {
  ipc::process_life process;
  int32_t pid = 0;
  core::error failure;
};

/// A process has certainly ended; its outbound ring was read to the end.
struct process_exited {
  ipc::process_life process;
  std::string manner;
  death cause = death::outside;
};

/// A run of the executor ended.
struct steps_ran {
  gpu::run_report report;
};

/// A decoding of the executor ended.
struct image_decoded {
  gpu::decode_report report;
};

/// The executor loaded variants, or failed to.
struct variants_loaded {
  gpu::load_report report;
};

/// A device's thread did the work of a stage, or it was left out.
struct stage_ended {
  stage_done reply;
};

using tick_atom = caf::atom_constant<caf::atom("tick")>;
using status_atom = caf::atom_constant<caf::atom("status")>;
using counts_atom = caf::atom_constant<caf::atom("counts")>;
using demand_atom = caf::atom_constant<caf::atom("demand")>;
using start_atom = caf::atom_constant<caf::atom("start")>;
using stop_atom = caf::atom_constant<caf::atom("stop")>;

} // namespace atelier::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::submit)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::trial_noted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::cancel_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::taken_answer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::publish_plan)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::cluster_changed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::suspect_process)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::process_suspected)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::process_lost)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::request_caused)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::counters)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::scheduler_status)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(std::vector<atelier::actors::process_line>)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::process_started)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::process_exited)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::steps_ran)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::image_decoded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::plan_made)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::planner_status)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::watch_load)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::wish_hosting)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::load_jumped)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::variants_loaded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::stage_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::planning::demand)
