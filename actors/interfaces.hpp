// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every actor's interface, in the order of a request's path: this file is the
// wire. Messages are one-way and carry tickets; nothing on the path waits for a
// response, and every time-out is a deadline in a table and one tick.

#include <atelier/actors/local_messages.hpp>
#include <atelier/actors/messages.hpp>

#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace atelier::actors {

/// SCHEDULER: the hub. Every leg replies to it, it picks the next one.
using scheduler_actor = caf::typed_actor<
  // A valid request enters; it will be answered once, through the gateway.
  caf::reacts_to<submit>,
  // The client wrote down that it is about to be tried alone.
  caf::reacts_to<trial_noted>,
  // The client takes it back.
  caf::reacts_to<cancel_request>,
  // The gateway copied the picture out: its slot may go.
  caf::reacts_to<taken_answer>,
  // A worker is there.
  caf::reacts_to<worker_ready>,
  // A worker of a pool ended a stage's work.
  caf::reacts_to<stage_done>,
  // The DENOISE STEP worker's batch has these rows from now on.
  caf::reacts_to<stepping>,
  // The DENOISE STEP worker ran steps.
  caf::reacts_to<stepped>,
  // The DENOISE STEP worker ended a leg.
  caf::reacts_to<denoised>,
  // The DENOISE STEP worker hosts what it was told to.
  caf::reacts_to<adopted>,
  // The SUPERVISOR thinks a process dead: no new work for it.
  caf::reacts_to<process_suspected>,
  // The SUPERVISOR says that a process is over.
  caf::reacts_to<process_lost>,
  // The PLANNER publishes.
  caf::reacts_to<publish_plan>,
  // Time passes: looks for late requests and silent workers.
  caf::reacts_to<tick_atom>,
  // Fails everything not answered yet and refuses from now on.
  caf::reacts_to<stop_atom>,
  // Returns the raw counts, for the MONITOR.
  caf::replies_to<counts_atom>::with<counters>,
  // Returns the state for people.
  caf::replies_to<status_atom>::with<scheduler_status>>;

/// CLASSIFIER, PREPROCESS, POSTPROCESS (CPU) and RECALL (control process): run
/// the stages of the pipeline that are due before the route is chosen, before
/// and after the steps of a leg, and those about earlier work.
using stage_actor = caf::typed_actor<
  // Does a stage's work for a request; reports `stage_done`.
  caf::reacts_to<run_stage>>;

/// DENOISE STEP: one for each device; rows join and leave between steps.
using denoise_step_actor = caf::typed_actor<
  // Takes a row on; reports `denoised` once.
  caf::reacts_to<denoise>,
  // Stops working on a row; reports `denoised` with ec::cancelled.
  caf::reacts_to<cancel_work>,
  // Loads variants, changes its batches; reports `adopted`.
  caf::reacts_to<adopt>,
  // The executor loaded what it was told to.
  caf::reacts_to<variants_loaded>,
  // The executor ended a run.
  caf::reacts_to<steps_ran>,
  // The executor ended a decoding.
  caf::reacts_to<picture_decoded>>;

/// MONITOR: windows of raw counts; tells the PLANNER when the load is not what
/// was planned for.
using monitor_actor = caf::typed_actor<
  // Ends the window: asks the SCHEDULER for its counts.
  caf::reacts_to<tick_atom>,
  // The PLANNER listens for jumps of the load from now on.
  caf::reacts_to<watch_load>,
  // Returns what was asked of the cluster of late: a plan is made for it.
  caf::replies_to<demand_atom>::with<planning::demand>>;

/// PLANNER: re-solves every period and at events, off the path.
using planner_actor = caf::typed_actor<
  // A worker came or went.
  caf::reacts_to<cluster_changed>,
  // A period is over.
  caf::reacts_to<tick_atom>,
  // The MONITOR says that the load is not what was planned for.
  caf::reacts_to<load_jumped>,
  // An operator wants models to be there, or away.
  caf::reacts_to<wish_hosting>,
  // The offload solved, or could not.
  caf::reacts_to<plan_made>,
  // Returns the state for whoever starts the actors.
  caf::replies_to<status_atom>::with<planner_status>>;

/// SUPERVISOR: starts processes, watches their signs of life, confirms their
/// deaths, restarts them.
using supervisor_actor = caf::typed_actor<
  // Starts every process.
  caf::reacts_to<start_atom>,
  // The SCHEDULER finds a process silent.
  caf::reacts_to<suspect_process>,
  // The SCHEDULER says that a request caused a process's end.
  caf::reacts_to<request_caused>,
  // A process was started, or could not be.
  caf::reacts_to<process_started>,
  // A process gave a sign of life.
  caf::reacts_to<pong>,
  // A process says why it cannot be what it was told to be.
  caf::reacts_to<setup_refused>,
  // A process is gone for certain and its ring read to the end.
  caf::reacts_to<process_exited>,
  // Time passes: pings, looks for silence, restarts.
  caf::reacts_to<tick_atom>,
  // Asks all processes to end, and starts none again.
  caf::reacts_to<stop_atom>,
  // Returns the processes for people.
  caf::replies_to<status_atom>::with<std::vector<process_line>>>;

} // namespace atelier::actors
