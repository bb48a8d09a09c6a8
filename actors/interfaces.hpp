// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface of every actor, in the order of a request's path; this file is
// the wire. Messages are one-way and carry tickets: nothing on the path waits
// for a response, and every timeout is a deadline in a table plus one tick.

#include <atelier/actors/local_messages.hpp>
#include <atelier/actors/messages.hpp>

#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace atelier::actors {

/// SCHEDULER. Every leg replies to it, and it picks the next
/// one.
using scheduler_actor = caf::typed_actor<
  // A valid request enters; it is answered once, through the gateway.
  caf::reacts_to<submit>,
  // The client recorded that the request is about to be tried alone.
  caf::reacts_to<trial_noted>,
  // The client cancels the request.
  caf::reacts_to<cancel_request>,
  // The gateway copied the image, so its slot can be freed.
  caf::reacts_to<taken_answer>,
  // A worker announces itself.
  caf::reacts_to<worker_ready>,
  // A pool's worker finished a stage's work.
  caf::reacts_to<stage_done>,
  // The DENOISE STEP worker's batch has these rows from now on.
  caf::reacts_to<stepping>,
  // The DENOISE STEP worker ran steps.
  caf::reacts_to<stepped>,
  // The DENOISE STEP worker finished a leg.
  caf::reacts_to<denoised>,
  // The DENOISE STEP worker hosts what it was ordered to host.
  caf::reacts_to<adopted>,
  // A worker answers whether it has an order.
  caf::reacts_to<has_order>,
  // An operator wants variants: attempts to load them are due.
  caf::reacts_to<wish_hosting>,
  // The SUPERVISOR suspects that a process is dead: it gets no new work.
  caf::reacts_to<process_suspected>,
  // The SUPERVISOR reports that a process has ended.
  caf::reacts_to<process_lost>,
  // The PLANNER publishes a plan.
  caf::reacts_to<publish_plan>,
  // Time passes: looks for late requests and silent workers.
  caf::reacts_to<tick_atom>,
  // Fails all unanswered requests and refuses new ones from now on.
  caf::reacts_to<stop_atom>,
  // Returns the raw counts for the MONITOR.
  caf::replies_to<counts_atom>::with<counters>,
  // Returns the state for human readers.
  caf::replies_to<status_atom>::with<scheduler_status>>;

/// CLASSIFIER, PREPROCESS, POSTPROCESS (CPU) and RECALL (control process). They
/// run the pipeline's stages that are due before the route is chosen, before
/// and after the steps of a leg, and those about earlier work.
using stage_actor = caf::typed_actor<
  // Does a stage's work for a request; reports `stage_done`.
  caf::reacts_to<run_stage>,
  // Reports `has_order`, after the answers to all earlier orders.
  caf::reacts_to<ask_order>>;

/// DEVICE STAGE: one per device, if stages run there.
using device_stage_actor = stage_actor::extend<
  // The device's thread did the work of an order, or left it out.
  caf::reacts_to<stage_ended>>;

/// DENOISE STEP: one per device. Rows join and leave between steps.
using denoise_step_actor = caf::typed_actor<
  // Accepts a row; reports `denoised` once.
  caf::reacts_to<denoise>,
  // Stops working on a row; reports `denoised` with ec::cancelled.
  caf::reacts_to<cancel_work>,
  // Loads variants or changes its batches; reports `adopted`.
  caf::reacts_to<adopt>,
  // Reports `has_order`.
  caf::reacts_to<ask_order>,
  // The executor loaded the requested variants.
  caf::reacts_to<variants_loaded>,
  // The executor finished a run.
  caf::reacts_to<steps_ran>,
  // The executor finished a decoding.
  caf::reacts_to<image_decoded>>;

/// MONITOR: keeps windows of raw counts and notifies the PLANNER when the load
/// differs from the planned one.
using monitor_actor = caf::typed_actor<
  // Ends the window: asks the SCHEDULER for its counts.
  caf::reacts_to<tick_atom>,
  // The PLANNER subscribes to jumps of the load.
  caf::reacts_to<watch_load>,
  // Returns the recent demand on the cluster, for which a plan is made.
  caf::replies_to<demand_atom>::with<planning::demand>>;

/// PLANNER: re-solves every period and at events, off the path.
using planner_actor = caf::typed_actor<
  // A worker joined or left.
  caf::reacts_to<cluster_changed>,
  // A period ended.
  caf::reacts_to<tick_atom>,
  // The MONITOR reports that the load differs from the planned one.
  caf::reacts_to<load_jumped>,
  // An operator wants models to be loaded or removed.
  caf::reacts_to<wish_hosting>,
  // The offload solved the plan, or failed.
  caf::reacts_to<plan_made>,
  // Returns the state for the code that starts the actors.
  caf::replies_to<status_atom>::with<planner_status>>;

/// SUPERVISOR: starts processes, watches their signs of life, confirms their
/// deaths and restarts them.
using supervisor_actor = caf::typed_actor<
  // Starts every process.
  caf::reacts_to<start_atom>,
  // The SCHEDULER finds a process silent.
  caf::reacts_to<suspect_process>,
  // The SCHEDULER reports that a request caused a process's end.
  caf::reacts_to<request_caused>,
  // A process was started, or could not be.
  caf::reacts_to<process_started>,
  // A process gave a sign of life.
  caf::reacts_to<pong>,
  // A process reports why it cannot be set up as ordered.
  caf::reacts_to<setup_refused>,
  // A process has certainly ended and its ring was read to the end.
  caf::reacts_to<process_exited>,
  // Time passes: pings, looks for silence, restarts.
  caf::reacts_to<tick_atom>,
  // Asks all processes to end and starts none again.
  caf::reacts_to<stop_atom>,
  // Returns the processes for human readers.
  caf::replies_to<status_atom>::with<std::vector<process_line>>>;

} // namespace atelier::actors
