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

/// A handler that is off its core for longer than this, and gave it up by
/// itself, is counted.
constexpr core::timespan longest_wait = std::chrono::milliseconds{2};

/// Returns the handlers of this process that did not compute for longer than
/// `longest_wait` while they ran, and whose thread gave up its core by itself
/// meanwhile: by actor, those with none left out. One that computes for long is
/// not among them, nor one whose core others took; one that waits shortly for a
/// lock and whose core is then taken for long is.
/// Threads: any.
std::vector<blocked_handlers> count_blocked_handlers();

/// Looks at the handlers of one actor. A clock is read for each message; what
/// the thread computed and how often it gave up its core (a system call) once
/// for each time that the actor is resumed, and after a handler of over 0.1 ms,
/// so that short ones before are not mistaken for a long one. A handler that
/// runs others inside it
/// (`inline_unit`) is counted for what they wait too.
/// Threads: those of its actor, one at a time.
class handler_watch {
public:
  /// A thread takes the actor on.
  void begin();

  /// A handler of the actor ended.
  void handled(const char* actor);

private:
  core::time_point last_;
  core::timespan computed_{0};
  long waits_ = 0;
};

/// The base of every actor here.
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

/// An actor of an interface with its state, and what its functions call `self`.
template <class Handle, class State>
using actor_with =
  caf::stateful_actor<State, typename watched_by_handle<Handle>::type>;
template <class Handle, class State>
using self_of = actor_with<Handle, State>*;

} // namespace atelier::actors
