// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/local_messages.hpp>
#include <atelier/actors/scheduler/forecast.hpp>
#include <atelier/actors/scheduler/hosting.hpp>
#include <atelier/actors/scheduler/orders.hpp>
#include <atelier/actors/scheduler/questions.hpp>
#include <atelier/actors/scheduler/queues.hpp>
#include <atelier/actors/scheduler/records.hpp>
#include <atelier/actors/scheduler/requests.hpp>
#include <atelier/actors/scheduler/rules.hpp>
#include <atelier/actors/scheduler/slots.hpp>
#include <atelier/actors/scheduler/suspicions.hpp>
#include <atelier/actors/scheduler/views.hpp>
#include <atelier/actors/scheduler/workers.hpp>

#include <string>

namespace atelier::actors {

/// Shows the scheduler's parts to people and to tests. It changes none of them.
///
/// Invariants over several parts, tested after every event (see check):
/// (1) arrived = refused + answered + failed + cancelled + rows not ended;
/// (2) a waiting row is in exactly one queue, and a running one has exactly one
///     order with its attempt;
/// (3) a worker's taken seats are its orders;
/// (4) there are as many orders as entries of slots that orders hold;
/// (5) a row that starts from an image holds its source from `prepared` to the
///     end of its leg, even if processes die meanwhile;
/// (6) a suspect has its worker to itself, or the whole process if the worker
///     prepares or encodes.
/// Threads: one at a time.
class inspection {
public:
  /// The parts that it reads.
  struct parts {
    const actors::rules& rules;
    const actors::records& records;
    const actors::requests& requests;
    const actors::questions& questions;
    const actors::suspicions& suspicions;
    const actors::orders& orders;
    const actors::workers& workers;
    const actors::queues& queues;
    const actors::slots& slots;
    const actors::hosting& hosting;
    const actors::forecast& forecast;
    const actors::views& views;
  };

  /// @pre the parts outlive it
  explicit inspection(parts of) : of_(of) {}

  /// @param known the profile of the server
  scheduler_status status(const planning::profile& known) const;

  /// Returns the first invariant that does not hold; empty if all hold.
  std::string check() const;

private:
  std::string check_rows() const;
  std::string check_queues() const;
  std::string check_views() const;
  std::string check_seats() const;
  std::string check_alone() const;

  parts of_;
};

} // namespace atelier::actors
