// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/inline_unit.hpp>

#include <caf/scheduler/abstract_coordinator.hpp>

namespace atelier::actors {

namespace {

/// Number of messages that one actor handles before others on this thread.
constexpr size_t throughput = 64;

} // namespace

inline_unit::inline_unit(caf::actor_system& sys) : caf::execution_unit(&sys) {}

void inline_unit::exec_later(caf::resumable* job) {
  jobs_.push_back(job);
}

void inline_unit::run() {
  // A handler may deliver in turn; the outer call continues with its jobs.
  if (running_)
    return;
  running_ = true;
  while (!jobs_.empty()) {
    auto* job = jobs_.front();
    jobs_.pop_front();
    switch (job->resume(this, throughput)) {
      case caf::resumable::resume_later:
        // Busy for long: a thread of the scheduler continues with it.
        system().scheduler().enqueue(job);
        break;
      case caf::resumable::done:
      case caf::resumable::awaiting_message:
        caf::intrusive_ptr_release(job);
        break;
      case caf::resumable::shutdown_execution_unit:
        break;
    }
  }
  running_ = false;
}

} // namespace atelier::actors
