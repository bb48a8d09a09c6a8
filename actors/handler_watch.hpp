// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/core/time.hpp>

#include <caf/invoke_message_result.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <vector>

namespace atelier::actors {

/// A handler is counted if it is off its core for longer than this and yielded
/// the core itself.
constexpr core::timespan longest_wait = std::chrono::milliseconds{2};

/// Counts the handlers of this process that did not compute for longer than
/// `longest_wait` while they ran, and whose thread yielded its core itself
/// meanwhile. Returns the counts by actor, without actors that have none. A
/// handler that computes for long is not counted, nor is one whose core was
/// taken by other threads. A handler that waits briefly for a lock and whose
/// core is then taken for long is counted.
/// Threads: any.
std::vector<blocked_handlers> count_blocked_handlers();

/// Observes the handlers of one actor. A clock is read for each message. The
/// thread's computing time and the number of times that it yielded its core are
/// read by a system call, once each time the actor is resumed and after a
/// handler of more than 0.1 ms, so that earlier short handlers are not mistaken
/// for a long one. A handler that runs others inside it (`inline_unit`) is also
/// counted for their waits.
/// Threads: those of its actor, one at a time.
class handler_watch {
public:
  /// A thread resumes the actor.
  void begin();

  /// A handler of the actor ended.
  void handled(const char* actor);

private:
  core::time_point last_;
  core::timespan computed_{0};
  long waits_ = 0;
};

/// The base of every actor in this program.
template <class... Signatures>
class watched_actor : public caf::typed_event_based_actor<Signatures...> {
public:
  using super = caf::typed_event_based_actor<Signatures...>;
  using super::consume;
  using super::super;

  caf::resumable::resume_result resume(caf::execution_unit* on,
                                       size_t most) override {
    watch_.begin();
    return super::resume(on, most);
  }

  caf::invoke_message_result consume(caf::mailbox_element& x) override {
    const auto result = super::consume(x);
    watch_.handled(this->name());
    return result;
  }

private:
  handler_watch watch_;
};

template <class Handle>
struct watched_by_handle;

template <class... Signatures>
struct watched_by_handle<caf::typed_actor<Signatures...>> {
  using type = watched_actor<Signatures...>;
};

/// An actor of an interface with its state, and the type of `self` in its
/// functions.
template <class Handle, class State>
using actor_with =
  caf::stateful_actor<State, typename watched_by_handle<Handle>::type>;
template <class Handle, class State>
using self_of = actor_with<Handle, State>*;

} // namespace atelier::actors
