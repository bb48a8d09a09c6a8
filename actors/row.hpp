// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/route.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::actors {

using core::phase;

/// Whether the client wrote down that a suspect is about to be tried.
enum class trial : uint8_t { unasked, asked, noted };

/// Where a row stands. ASKING -> WAITING -> RUNNING -> WAITING | ANSWERED |
/// FAILED | CANCELLED; the last three are terminal.
enum class row_state : uint8_t {
  /// For facts, in no lane.
  asking,
  waiting,
  running,
  answered,
  failed,
  cancelled
};

constexpr bool is_terminal(row_state x) {
  return x == row_state::answered || x == row_state::failed
      || x == row_state::cancelled;
}

/// The scheduler's record of a request: the only place where its answer is
/// committed.
struct row {
  std::shared_ptr<const core::request> what;
  row_state state = row_state::waiting;
  /// Where it is: the stage of the pipeline that runs or comes next, what that
  /// counts as, and its order where a pool's worker runs it.
  size_t stage = 0;
  phase at = phase::preparing;
  core::typed_body order;
  /// Its legs are over: what is left stands before the answer.
  bool answering = false;
  /// The number of the last dispatch that moves the row; a reply counts only if
  /// it carries this one.
  uint32_t attempt = 0;
  /// The last number of a dispatch, side ones included.
  uint32_t dispatches = 0;
  /// How many dispatches moved the row. Random choices of lanes go by it, so
  /// that they do not depend on what was asked before.
  uint32_t moves = 0;
  /// The plan under which the route was chosen.
  std::shared_ptr<const planning::plan> under;
  core::route_id along;
  planning::facts known;
  /// When it goes on without the facts that it asks for; and how often it
  /// asked.
  planning::need wanted;
  core::time_point asks_since;
  core::time_point asks_until;
  uint32_t asked = 0;
  /// Stages that look for what it asks for now; and whether one found what is
  /// near.
  std::vector<uint16_t> questions;
  bool found_near = false;
  /// Index into known.near of what its first leg starts from.
  std::optional<uint32_t> match;
  /// Steps that earlier work saves this leg: expected until a device takes
  /// it, then those that `newest` began with.
  uint32_t saved = 0;
  /// Masked share of an edit; 1 where it is none.
  double masked = 1;
  /// Index of the leg that runs or comes next.
  uint32_t leg = 0;
  core::recipe how;
  /// How each leg of `known.done` was run.
  std::vector<core::recipe> ran;
  /// The state to go on from: the noise, or the newest published one.
  ipc::slot_ref newest;
  /// The picture, and mask, that it starts from: from `prepared` until its
  /// leg ended. Invalid where it starts from noise alone.
  ipc::slot_ref source;
  /// Pixels of earlier work that it starts from, or is answered with.
  ipc::slot_ref found;
  /// Pixels of the picture that will be answered.
  ipc::slot_ref pixels;
  /// Encoded picture, once answered.
  ipc::slot_ref encoded;
  /// States that are kept for later requests.
  std::vector<ipc::slot_ref> captures;
  /// Steps that `newest` holds.
  uint32_t steps_done = 0;
  uint32_t steps_run = 0;
  /// A suspect: its worker's process died while it worked on this. Until it
  /// gets through the phase it runs without others.
  bool alone = false;
  /// Deaths alone without a step gained.
  uint32_t strikes = 0;
  /// The most steps that it had at such a death.
  uint32_t reached = 0;
  /// The suspicion that `submit` brought; it counts from where the request was
  /// at that time.
  core::suspicion held;
  bool keeps_suspicion = false;
  /// How far its next trial is, and whether the client wrote anything down.
  trial next_trial = trial::unasked;
  bool noted = false;
  /// A death that another request caused delayed it.
  bool delayed = false;
  /// Lost workers since the last gain.
  uint32_t losses = 0;
  /// What its workers found that the client should know, each once.
  std::vector<core::note> notes;
  core::time_point waiting_since;
  /// When it expires: at its deadline, or earlier where a picture is there that
  /// must still be encoded.
  core::time_point due = core::never;
  /// Its part of the devices' predicted work, and for which variant: from the
  /// begin of a leg to its end.
  core::timespan work{0};
  core::variant_id work_for;
  row_timings took;
};

/// Returns whether a row may hold slots that others wait for.
inline bool is_under_way(const row& r) {
  return r.leg > 0 || r.newest || r.source || r.found || r.pixels || r.encoded
      || !r.known.done.empty();
}

/// Returns how many steps a row still has to run in its leg.
inline uint32_t steps_left(const row& r) {
  const auto all = core::steps_to_run(r.how);
  return all - std::min(std::max(r.steps_done, r.saved), all);
}

/// Whether a row's leg is to start from an image that earlier work left.
inline bool starts_from_found(const row& r) {
  const auto& legs = r.under->routes[r.along.value].legs;
  return !r.what->source && !r.answering && r.leg < legs.size()
      && legs[r.leg].from == planning::origin::image;
}

/// Returns the masked share by which a row's leg runs: 1 where all of the
/// picture is computed.
inline double masked_as_it_runs(const row& r) {
  const auto& leg = r.under->routes[r.along.value].legs[r.leg];
  return leg.from == planning::origin::template_image && !leg.record ? r.masked
                                                                     : 1;
}

/// What one dispatch is at a worker, from the hand-off to the worker's reply or
/// its process's end, whatever becomes of the row meanwhile. Its slots stand in
/// scheduler/slots.hpp.
struct dispatched {
  core::worker_id worker;
  core::tenant_id tenant;
  size_t stage = 0;
  phase at = phase::preparing;
  /// It moves no row: it finds facts, or remembers. Of facts, the question that
  /// they answer.
  bool side = false;
  uint32_t question = 0;
  core::variant_id variant;
  /// When it was handed off.
  core::time_point since;
  /// Steps that the state held when it was handed off.
  uint32_t steps_before = 0;
  uint32_t steps_done = 0;
  /// As of the row: what policies are told while it runs.
  uint32_t steps = 0;
  double masked = 1;
  /// Its part of its worker's steps_left.
  uint32_t steps_left = 0;
  bool alone = false;
  /// Told as a member of the worker's batch.
  bool stepping = false;
};

} // namespace atelier::actors
