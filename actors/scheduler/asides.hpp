// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/deliveries.hpp>
#include <atelier/actors/scheduler/parts.hpp>

#include <optional>

namespace atelier::actors {

/// Orders stages beside the path of a row: those that find facts before its
/// route is chosen, searches that no request waits for (probes), and those that
/// remember its image afterwards. Such work moves no row.
/// Threads: one at a time.
class asides {
public:
  /// @pre the parts outlive it
  asides(parts& of, deliveries& out);

  /// Orders the stages to find the requested facts. Returns whether any looks
  /// for them: the row waits until its question is over.
  /// Errors: the row must be turned away.
  core::result<bool> ask(core::request_id id, row& r,
                         const planning::need& wants, core::time_point now);

  /// A request for which an order ended. An error in `goes_on` means that its
  /// row must be turned away.
  struct answered {
    core::request_id id;
    core::result<void> goes_on;
  };

  /// Notes how an order ended. Returns the request that it answered, whose
  /// question may be over; nothing if no request waits for it.
  std::optional<answered> over(const stage_done& x, const dispatched& was,
                               core::error why, core::time_point now);

  /// Ends a row's question: what will be known is known.
  /// Errors: the row must be turned away.
  core::result<void> end(core::request_id id, row& r, core::time_point now);

  /// Orders the stages that remember the image of a row.
  void remember(core::request_id id, row& r, core::time_point now);

  /// Begins a probe if the plan wants one, with the search that a request like
  /// `asked` would make; ends a probe that took too long.
  void probe(const std::shared_ptr<const core::request>& asked,
             core::time_point now);

private:
  /// Orders a stage's work. False if no worker or slot is free for it.
  bool order(core::request_id id, row& r, size_t stage, core::typed_body what,
             core::timespan left, core::time_point now);

  /// Returns the worker that takes such an order next; null if none is free.
  worker* free_worker(size_t stage);

  /// Gives an order the slots that its stage reads; null if too few are free.
  const held_slots* give_slots(core::ticket who, const row& r, size_t stage,
                               ipc::process_life life);

  /// Notes that a request's stage found facts, or why it did not.
  core::result<void> learn(core::request_id id, row& r, size_t stage,
                           const stage_done& x, core::error why);

  /// Notes that a stage after the answer ended.
  void remembered(const stage_done& x, size_t stage, core::error why);

  /// Ends the probe whose search this was.
  void probe_over(const stage_done& x, const dispatched& was,
                  const core::error& why, core::time_point now);

  void note_retrieval(planning::retrieval_sample x);

  const scheduler_config& config_;
  const scheduler_ports& ports_;
  const stage_path& path_;
  slots& slots_;
  records& records_;
  rules& rules_;
  requests& requests_;
  workers& workers_;
  questions& questions_;
  probes& probes_;
  const views& views_;
  deliveries& out_;
};

} // namespace atelier::actors
