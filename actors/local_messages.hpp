// SPDX-License-Identifier: Apache-2.0
#pragma once

// Messages that never leave the process: they may carry shared immutable data.

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
  std::shared_ptr<const core::request> what;
  /// What a server before held against it.
  core::suspicion held = {};
  /// The client writes down what is held against it: a trial alone waits for
  /// that (`trial_noted`).
  bool keeps_suspicion = false;
};

/// The client wrote down that the request is about to be tried alone.
struct trial_noted {
  core::request_id id;
};

/// The client takes its request back.
struct cancel_request {
  core::request_id id;
};

/// The gateway copied the answer's picture out of its slot.
struct taken_answer {
  core::request_id id;
};

/// The planner publishes.
struct publish_plan {
  std::shared_ptr<const planning::plan> what;
};

/// A worker came or went.
struct cluster_changed {
  planning::cluster_view there;
};

/// The scheduler finds a process silent.
struct suspect_process {
  ipc::process_life who;
  std::string why;
};

/// The supervisor says of a process life that it may be dead.
struct process_suspected {
  ipc::process_life who;
};

/// How a process ended.
enum class death : uint8_t {
  /// A signal of its own making, or an exit that nobody asked for.
  crash,
  /// Killed by this program: it was silent, or wrote nonsense.
  watchdog,
  /// Killed by the kernel for memory.
  memory,
  /// Anything else: an operator, or nobody knows.
  outside,
};

/// Returns what became of a process, for sentences: "crashed".
std::string_view to_string(death x);

/// Returns whether a request may be to blame for it.
constexpr bool may_be_of_a_request(death x) {
  return x != death::outside;
}

/// The supervisor says of a process life that it is over. All that it wrote has
/// been delivered before. Not confirmed: it may still be there, so its slots
/// stay quarantined until a second, confirmed message.
struct process_lost {
  ipc::process_life who;
  bool confirmed = true;
  death cause = death::outside;
};

/// The scheduler says that a request caused the end of a process.
struct request_caused {
  ipc::process_life who;
};

/// The planner's offload ended: a plan, or why there is none.
struct plan_made {
  /// That of the work; an older one is too late.
  uint64_t number = 0;
  /// Devices that it was solved for.
  uint32_t devices = 0;
  std::shared_ptr<const planning::plan> what;
  core::error failure;
};

/// The planner's state.
struct planner_status {
  /// Devices of the last solving that ended, with a plan or without.
  uint32_t devices = 0;
};

/// An operator wants variants to be there, or away.
struct wish_hosting {
  std::vector<core::variant_id> variants;
  bool there = true;
};

/// The planner wants to hear of jumps of the load.
struct watch_load {
  caf::actor_addr planner;
};

/// Requests a second that came, and that were planned for.
struct load_jumped {
  double came = 0;
  double planned = 0;
};

/// Raw counts since the scheduler's start; each only rises but for those of
/// what waits.
struct counters {
  uint64_t arrived = 0;
  uint64_t refused = 0;
  uint64_t answered = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  /// Of the failed: dropped for their deadline.
  uint64_t late = 0;
  uint64_t dispatched = 0;
  /// Replies whose ticket was not outstanding any more.
  uint64_t stale_replies = 0;
  uint64_t workers_lost = 0;
  uint64_t resumed = 0;
  uint64_t steps_run = 0;
  /// Dispatches put off because the arena was full.
  uint64_t slot_waits = 0;
  /// Variants changed by workers.
  uint64_t loads = 0;
  /// Steps that were run with so many rows, by the rows; the last one counts
  /// all larger batches.
  std::vector<uint64_t> batches;
  /// Facts that did not come in time.
  uint64_t facts_late = 0;
  /// By stage of the pipeline: how often it failed, found nobody free or no
  /// slot, or answered too late, and was left out.
  std::vector<uint64_t> stages_left_out;
  /// States that devices kept for later requests.
  uint64_t captured = 0;
  /// Pictures that their judge failed at.
  uint64_t judge_failures = 0;
  /// As the fields of planning::demand_window and planning::demand.
  uint64_t searched = 0;
  uint64_t hits = 0;
  std::vector<std::pair<uint32_t, uint64_t>> skips;
  std::vector<std::pair<uint32_t, uint64_t>> allowed;
  std::vector<std::vector<uint64_t>> predicted;
  std::vector<uint64_t> confidences;
  std::vector<uint64_t> edits;
  std::vector<uint64_t> placed;
  /// May fall, too.
  std::vector<double> extra_work;
  std::vector<uint64_t> waiting;
  std::vector<uint64_t> waiting_shared;
  /// The last ones, oldest first, and how many there were in all.
  std::vector<planning::retrieval_sample> retrievals;
  uint64_t retrieved = 0;

  friend bool operator==(const counters&, const counters&) = default;
};

/// One worker for people.
struct worker_line {
  std::string device;
  std::vector<std::string> variants;
  uint32_t seats_taken = 0;
  uint32_t seats = 0;
  uint32_t max_batch = 0;
  /// It loads what a plan has it host.
  bool loading = false;
  /// It takes several times as long as others: plans do without it.
  bool slow = false;
};

/// The scheduler's state for people.
struct scheduler_status {
  counters counts;
  uint32_t waiting = 0;
  uint32_t running = 0;
  uint32_t slots = 0;
  uint32_t slots_in_use = 0;
  /// The one in force.
  std::shared_ptr<const planning::plan> plan;
  /// What plans go by, with what was measured since the start.
  std::shared_ptr<const planning::profile> profile;
  /// Each pool has so many workers that have joined.
  std::map<role, uint32_t> pool_workers;
  /// Each device has a line.
  std::vector<worker_line> workers;
  recovery_counts recovery;
};

/// One process for people.
struct process_line {
  std::string part;
  int32_t pid = 0;
  uint32_t restarts = 0;
  bool alive = false;
  /// Of all its lives.
  std::vector<blocked_handlers> blocked = {};
  /// It is set up and answers.
  bool ready = false;
  /// Why it could not be set up; ec::none: it could, or has not said.
  core::error refusal = {};
};

/// A process's start went one way or the other.
struct process_started {
  ipc::process_life who;
  int32_t pid = 0;
  core::error failure;
};

/// A process is gone for certain; its outbound ring was read to the end.
struct process_exited {
  ipc::process_life who;
  std::string how;
  death cause = death::outside;
};

/// A run of the executor ended.
struct steps_ran {
  gpu::run_report what;
};

/// A decoding of the executor ended.
struct picture_decoded {
  gpu::decode_report what;
};

/// The executor loaded variants, or could not.
struct variants_loaded {
  core::error failure;
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
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::picture_decoded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::plan_made)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::planner_status)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::watch_load)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::wish_hosting)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::load_jumped)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::actors::variants_loaded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(atelier::planning::demand)
