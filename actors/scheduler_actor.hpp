// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/scheduler/scheduler.hpp>

#include <memory>
#include <optional>

namespace atelier::actors {

/// Configuration of the scheduler.
struct scheduler_actor_config {
  scheduler_config tables;
  scheduler_ports ports;
  /// How often late work is checked for while work exists.
  core::timespan tick = std::chrono::milliseconds{20};
};

struct scheduler_state {
  static inline const char* name = "scheduler";

  /// The tables and every transition; created by the behaviour.
  std::optional<scheduler> tables;
  std::shared_ptr<handoff> workers;
  core::timespan tick{0};
  bool ticking = false;
  /// Consecutive ticks that found nothing to watch.
  uint32_t idle_ticks = 0;
};

/// The scheduler as an actor: each message is one event of its tables, at the
/// actor clock's time. Threads: never blocks; the ports post.
/// @pre config.ports are set, and so are config.tables.policy, profile and
///      initial_plan
scheduler_actor::behavior_type scheduler_behavior(
  self_of<scheduler_actor, scheduler_state> self,
  scheduler_actor_config config);

} // namespace atelier::actors
