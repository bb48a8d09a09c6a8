// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/timers.hpp>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

namespace atelier::runtime {

/// The clock of an actor system for code that is not an actor. Due work runs as
/// a message of one small actor, so that it takes its place among the messages:
/// under the deterministic scheduler, work due at one time runs in the order of
/// its requests.
/// Threads: any; due work runs in the actor.
class virtual_timers : public core::timers {
public:
  /// @pre the system outlives this
  explicit virtual_timers(caf::actor_system& sys);
  ~virtual_timers() override;

  virtual_timers(const virtual_timers&) = delete;
  virtual_timers& operator=(const virtual_timers&) = delete;

  core::time_point now() const override;
  void after(core::timespan delay, std::function<void()> what) override;

private:
  caf::actor_system& sys_;
  caf::actor actor_;
};

} // namespace atelier::runtime
