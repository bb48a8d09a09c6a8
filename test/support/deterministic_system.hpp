// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/messages.hpp>

#include <boost/test/unit_test.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace atelier::test {

/// Runs an actor system on one thread, without a real clock.
struct test_config : caf::actor_system_config {
  test_config() {
    add_message_types<caf::id_block::atelier>();
    set("scheduler.policy", caf::atom("testing"));
    set("logger.file-verbosity", caf::atom("quiet"));
  }
};

/// An actor system in which the test decides the order of messages, the time
/// and the failures. The destructor kills the actors that it spawned: an actor
/// with a delayed message to itself would keep the system from shutting down.
class deterministic_system {
public:
  deterministic_system() = default;
  deterministic_system(const deterministic_system&) = delete;
  deterministic_system& operator=(const deterministic_system&) = delete;

  ~deterministic_system() {
    end();
  }

  /// Kills every actor spawned here, and runs the remaining messages. A fixture
  /// whose own members take part calls this before their destruction.
  void end() {
    for (const auto& x : std::exchange(spawned_, {}))
      caf::anon_send_exit(x, caf::exit_reason::kill);
    run();
  }

  test_config cfg;
  caf::actor_system sys{cfg};
  caf::scoped_actor self{sys, true};
  caf::scheduler::test_coordinator& sched =
    dynamic_cast<caf::scheduler::test_coordinator&>(sys.scheduler());

  /// Spawns an actor, and runs its start.
  template <class... Ts>
  auto spawn(Ts&&... xs) {
    auto handle = spawn_only(std::forward<Ts>(xs)...);
    run();
    return handle;
  }

  /// Spawns an actor, which starts in the next run.
  template <class... Ts>
  auto spawn_only(Ts&&... xs) {
    auto handle = sys.spawn(std::forward<Ts>(xs)...);
    spawned_.push_back(caf::actor_cast<caf::actor>(handle));
    return handle;
  }

  /// Also kills this actor at the end.
  template <class Handle>
  void keep(const Handle& x) {
    spawned_.push_back(caf::actor_cast<caf::actor>(x));
  }

  /// Runs until no message waits; returns the number of runs.
  size_t run() {
    size_t n = 0;
    while (sched.try_run_once())
      ++n;
    return n;
  }

  /// Advances the clock by `t`. Each time-out happens at its own time, and all
  /// its consequences happen before the next one.
  size_t advance(core::timespan t) {
    auto& clock = sched.clock();
    const auto end = clock.now() + t;
    auto n = run();
    while (next_due() <= end) {
      sched.trigger_timeout();
      n += run();
    }
    if (clock.current_time < end)
      clock.current_time = end;
    return n;
  }

  core::time_point now() {
    return sched.clock().now();
  }

  /// Returns the time of the next time-out, or `never` if there is no time-out.
  core::time_point next_due() {
    const auto& due = sched.clock().schedule();
    return due.empty() ? core::never : due.begin()->first;
  }

  /// Runs exactly one message, of these types, at `to`; returns a copy of it.
  template <class... Ts, class Handle>
  std::tuple<Ts...> deliver(const Handle& to) {
    BOOST_REQUIRE(sched.prioritize(to));
    auto* at = caf::actor_cast<caf::abstract_actor*>(to);
    auto* next = at->peek_at_next_mailbox_element();
    BOOST_REQUIRE(next != nullptr);
    BOOST_REQUIRE_MESSAGE((next->content().template match_elements<Ts...>()),
                          caf::to_string(next->content()));
    // The view's elements are destroyed with the message, so they are copied
    // first.
    std::tuple<Ts...> copy = next->content().template get_as_tuple<Ts...>();
    sched.run_once();
    return copy;
  }

  /// Sends a message without a sender and runs everything.
  template <class Handle, class... Ts>
  void tell(const Handle& to, Ts&&... xs) {
    caf::anon_send(to, std::forward<Ts>(xs)...);
    run();
  }

  /// Requests, runs everything, and returns the value of the response.
  template <class T, class Handle, class... Us>
  T ask(const Handle& to, Us&&... xs) {
    auto response = self->request(to, caf::infinite, std::forward<Us>(xs)...);
    run();
    T out{};
    response.receive(
      [&](T& x) { out = std::move(x); },
      [&](const caf::error& e) { BOOST_FAIL("error: " << sys.render(e)); });
    return out;
  }

  /// Returns the state of a typed stateful actor.
  template <class State, class Handle>
  State& state(const Handle& of) {
    using base = actors::actor_with<Handle, State>;
    auto* at = dynamic_cast<base*>(caf::actor_cast<caf::abstract_actor*>(of));
    BOOST_REQUIRE(at != nullptr);
    return at->state;
  }

  template <class Handle>
  void kill(const Handle& x) {
    caf::anon_send_exit(x, caf::exit_reason::kill);
    run();
  }

private:
  std::vector<caf::actor> spawned_;
};

} // namespace atelier::test
