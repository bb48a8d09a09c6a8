// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_message.hpp>
#include <caf/message_id.hpp>
#include <caf/resumable.hpp>

#include <deque>
#include <utility>

namespace atelier::actors {

/// Runs actors on a thread that is not CAF's. A thread that just received news
/// for an actor runs the actor at once, instead of waking a thread of the
/// scheduler for it (about 20 us on an idle machine). An actor that already
/// runs elsewhere only gets the message.
/// Threads: one thread for each unit.
class inline_unit : public caf::execution_unit {
public:
  explicit inline_unit(caf::actor_system& sys);

  /// Delivers `x` to `to`; if that made it runnable, it waits here for `run`.
  template <class Handle, class T>
  void keep(const Handle& to, T x) {
    to->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(), {},
                                          std::move(x)),
                this);
  }

  /// Delivers `x` to `to` and runs all actors that this made runnable, here.
  template <class Handle, class T>
  void deliver(const Handle& to, T x) {
    keep(to, std::move(x));
    run();
  }

  /// Runs what is runnable here, and what that makes runnable.
  void run();

  /// Keeps a job that CAF made runnable on this unit.
  void exec_later(caf::resumable* job) override;

private:
  std::deque<caf::resumable*> jobs_;
  bool running_ = false;
};

} // namespace atelier::actors
