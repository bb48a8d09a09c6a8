// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/actors/scheduler/account.hpp>
#include <atelier/actors/scheduler/holding.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/route.hpp>
#include <atelier/planning/route_slots.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::actors {

using core::phase;

/// State of a row. ASKING -> WAITING -> RUNNING -> WAITING | ANSWERED | FAILED
/// | CANCELLED; the last three are terminal.
enum class row_state : uint8_t {
  /// Waits for facts and is in no queue.
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
  std::shared_ptr<const core::request> request;
  row_state state = row_state::waiting;
  /// Position: the stage of the pipeline that runs or comes next, the phase of
  /// that stage, and its order if a pool's worker runs it.
  size_t stage = 0;
  core::phase phase = core::phase::preparing;
  core::typed_body order;
  /// Its legs are over: only stages before the answer are left.
  bool answering = false;
  /// Number of the last dispatch that moves the row; a reply counts only if it
  /// carries this number.
  uint32_t attempt = 0;
  /// The last number of a dispatch, including side dispatches.
  uint32_t dispatches = 0;
  /// Number of dispatches that moved the row. Random choices of queues use it,
  /// so that they do not depend on earlier questions.
  uint32_t moves = 0;
  /// The plan under which the route was chosen, and the slots of its routes.
  std::shared_ptr<const planning::plan> plan;
  std::shared_ptr<const planning::route_slots> slots;
  core::route_id route;
  planning::facts known;
  /// Index into known.near of the match from which its first leg starts.
  std::optional<uint32_t> match;
  /// Steps that earlier work saves this leg: expected until a device takes it,
  /// then the number that its state began with.
  uint32_t saved = 0;
  /// Masked share of an edit; 1 for other requests.
  double masked = 1;
  /// Index of the leg that runs or comes next.
  uint32_t leg = 0;
  core::recipe recipe;
  /// The variant for which its leg was prepared a second time: no other runs
  /// it, so that it is not prepared for one worker after another.
  std::optional<core::variant_id> bound;
  /// How its newest image was drawn.
  core::recipe drawn;
  /// The slots that it holds.
  holding held;
  core::time_point waiting_since;
  /// When it expires: at its deadline, or earlier if it already has an image
  /// that must still be encoded.
  core::time_point due = core::never;
  actors::account account;
};

/// Whether a row may hold slots that others wait for.
inline bool is_under_way(const row& r) {
  return r.leg > 0 || r.held.any() || !r.known.done.empty();
}

/// Returns the number of steps that are left in a row's leg.
inline uint32_t steps_left(const row& r) {
  const auto all = core::steps_to_run(r.recipe);
  return all - std::min(std::max(r.held.steps(), r.saved), all);
}

/// Whether a row's leg starts from an image that earlier work left.
inline bool starts_from_found(const row& r) {
  const auto& legs = r.plan->routes[r.route.value].legs;
  return !r.request->source && !r.answering && r.leg < legs.size()
      && legs[r.leg].from == planning::origin::image;
}

/// Returns the earlier work that a row starts from, or would: the one that its
/// policy chose, otherwise the nearest. Null if nothing similar was found.
inline const planning::match* match_of(const row& r) {
  if (!r.known.near || r.known.near->empty())
    return nullptr;
  const auto& near = *r.known.near;
  return &near[std::min<size_t>(r.match.value_or(0), near.size() - 1)];
}

/// Returns the masked share with which a row's leg runs: 1 if the whole image
/// is computed.
inline double masked_as_it_runs(const row& r) {
  const auto& leg = r.plan->routes[r.route.value].legs[r.leg];
  return leg.from == planning::origin::template_image && !leg.record ? r.masked
                                                                     : 1;
}

} // namespace atelier::actors
