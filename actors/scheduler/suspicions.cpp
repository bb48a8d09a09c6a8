// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/suspicions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace atelier::actors {

// -- entering -----------------------------------------------------------------

void suspicions::accept(core::request_id id, const core::suspicion& held,
                        bool records) {
  if (held.trials == 0 && !records)
    return;
  auto& x = all_[id];
  x.held = held;
  x.records = records;
  x.noted = held.trials > 0;
}

std::optional<core::suspicion> suspicions::leave(core::request_id id,
                                                 const place& at) {
  auto* x = find(id);
  if (x == nullptr || !x->alone)
    return std::nullopt;
  return forgive(*x, at);
}

void suspicions::enter(core::request_id id, const place& at,
                       bool ends_processes) {
  auto* x = find(id);
  if (x == nullptr)
    return;
  x->alone = false;
  x->strikes = 0;
  x->losses = 0;
  x->unanswered = 0;
  x->reached = 0;
  x->next_trial = trial::unasked;
  if (const auto was = x->held; was.trials > 0 && was.phase == at.phase
                                && was.leg == at.leg && ends_processes) {
    x->held = {};
    x->alone = true;
    x->strikes = was.trials;
    x->reached = was.steps;
  }
}

void suspicions::forget(core::request_id id) {
  all_.erase(id);
}

// -- trials -------------------------------------------------------------------

bool suspicions::is_alone(core::request_id id) const {
  const auto* x = find(id);
  return x != nullptr && x->alone;
}

uint32_t suspicions::strikes(core::request_id id) const {
  const auto* x = find(id);
  return x == nullptr ? 0 : x->strikes;
}

suspicions::permission suspicions::ask_for_trial(core::request_id id) {
  auto* x = find(id);
  if (x == nullptr || !x->records || x->next_trial == trial::noted)
    return permission::granted;
  return std::exchange(x->next_trial, trial::asked) == trial::unasked
         ? permission::wanted
         : permission::awaited;
}

bool suspicions::recorded(core::request_id id) {
  auto* x = find(id);
  if (x == nullptr || x->next_trial != trial::asked)
    return false;
  x->next_trial = trial::noted;
  return true;
}

void suspicions::begin(core::request_id id) {
  if (auto* x = find(id))
    x->next_trial = trial::unasked;
}

core::suspicion suspicions::next_record(core::request_id id, const place& at) {
  auto& x = all_[id];
  return record(x, at, x.strikes + 1);
}

std::optional<core::suspicion> suspicions::take_trial_back(core::request_id id,
                                                           const place& at) {
  auto* x = find(id);
  if (x == nullptr || !x->alone || !x->noted || !x->records)
    return std::nullopt;
  return record(*x, at, x->strikes);
}

void suspicions::hold(core::request_id id, uint32_t leg) {
  if (auto* x = find(id); x != nullptr && x->alone)
    x->held = {core::phase::denoising, leg, x->reached,
               std::max(x->strikes, 1u)};
}

core::suspicion suspicions::record(history& x, const place& at,
                                   uint32_t trials) {
  x.noted = trials > 0;
  return {at.phase, at.leg, std::max(x.reached, at.steps), trials};
}

std::optional<core::suspicion> suspicions::forgive(history& x,
                                                   const place& at) {
  x.strikes = 0;
  if (!x.noted || !x.records)
    return std::nullopt;
  return record(x, at, 0);
}

// -- losses -------------------------------------------------------------------

suspicions::verdict suspicions::lost(core::request_id id, const loss& how,
                                     const place& at) {
  auto& x = all_[id];
  verdict out;
  x.losses = how.gained ? 1 : x.losses + 1;
  if (how.gained)
    out.record = forgive(x, at);
  if (how.suspicious) {
    if (how.was_alone && !how.gained)
      ++x.strikes;
    x.alone = true;
    x.reached = std::max(x.reached, at.steps);
  }
  out.losses = x.losses;
  out.is_poison = x.strikes >= most_strikes;
  return out;
}

uint32_t suspicions::reached(core::request_id id) const {
  const auto* x = find(id);
  return x == nullptr ? 0 : x->reached;
}

uint32_t suspicions::count_unanswered(core::request_id id) {
  return ++all_[id].unanswered;
}

bool suspicions::count_restart(core::request_id id) {
  auto& x = all_[id];
  if (x.restarts >= most_restarts)
    return false;
  ++x.restarts;
  return true;
}

bool suspicions::is_poison(core::request_id id) const {
  return strikes(id) >= most_strikes;
}

core::error suspicions::poison_of(core::request_id id, const place& at,
                                  std::string_view last) const {
  const auto where = at.phase == core::phase::denoising
                     ? fmt::format("running it alone at step {}", at.steps)
                   : at.phase == core::phase::preparing
                     ? std::string{"preparing it alone"}
                     : std::string{"encoding its image alone"};
  return core::fail(core::ec::poison,
                    "its worker died {} times while {} (last: {})", strikes(id),
                    where, last);
}

// -- delays -------------------------------------------------------------------

bool suspicions::note_delay(core::request_id id) {
  return !std::exchange(all_[id].delayed, true);
}

bool suspicions::is_held_up(core::request_id id) const {
  const auto* x = find(id);
  return x != nullptr && x->delayed && !x->alone;
}

const suspicions::history* suspicions::find(core::request_id id) const {
  const auto i = all_.find(id);
  return i == all_.end() ? nullptr : &i->second;
}

suspicions::history* suspicions::find(core::request_id id) {
  const auto i = all_.find(id);
  return i == all_.end() ? nullptr : &i->second;
}

} // namespace atelier::actors
