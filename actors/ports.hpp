// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interfaces around the scheduler and the workers, injected by the wiring.
// Live and simulated implementations differ; the actors do not.

#include <atelier/actors/messages.hpp>
#include <atelier/core/error.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/ipc/slot_ref.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/policy.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::actors {

/// Carries work to workers. Live: mailboxes in this process, rings to others;
/// simulated: mailboxes.
/// Threads: any. Never blocks: work that a ring cannot take now is queued, and
///          work for a life that is over is dropped.
class handoff {
public:
  virtual ~handoff() = default;

  /// Errors: ec::invalid_argument if the work can never be sent: it is larger
  ///         than what the way to the worker takes; the text names both sizes.
  [[nodiscard]] virtual core::result<void> send(const worker_address& to,
                                                work what) = 0;

  /// The sender's event is over: work that was kept for the sender's thread
  /// runs now. Only the scheduler calls this.
  virtual void settle() {}
};

/// Carries workers' reports to the scheduler; otherwise like `handoff`. A
/// report that is larger than what the way takes arrives as the failure of its
/// ticket
/// (`refused` in wire.hpp).
class scheduler_port {
public:
  virtual ~scheduler_port() = default;
  virtual void send(report what) = 0;

  /// Puts a report where it survives this process, but wakes no thread for it:
  /// the next `send` or `nudge` does.
  virtual void send_quietly(report what) {
    send(std::move(what));
  }

  virtual void nudge() {}
};

/// Breakdown of a request's time.
struct row_timings {
  core::timespan queue{0};
  /// The time for which the request waited for facts: for earlier work if its
  /// policy asked for that, otherwise for its class.
  core::timespan classify{0};
  core::timespan retrieve{0};
  core::timespan preprocess{0};
  core::timespan text{0};
  core::timespan denoise{0};
  core::timespan decode{0};
  core::timespan postprocess{0};
  /// From arrival to the start of the first step.
  core::timespan first_step{0};
  core::timespan total{0};
};

/// The earlier work that a request's first leg started from, or that answered
/// it.
struct reused_work {
  /// `latent` or `image`.
  planning::origin from = planning::origin::latent;
  uint64_t entry = 0;
  double similarity = 0;
  /// The steps that did not run.
  uint32_t steps = 0;
};

/// The end of a request: an image in a slot, or the reason for its failure.
struct answer {
  std::shared_ptr<const core::request> request;
  core::error failure;
  core::timespan retry_after{0};
  ipc::slot_ref image;
  uint64_t bytes = 0;
  std::string sha256;
  core::recipe recipe;
  /// The size of the image.
  core::extent px;
  std::string model;
  std::string variant;
  std::string route;
  uint32_t steps_run = 0;
  /// Predicted tolerated level of each of the profile's ladders; none if no
  /// policy asked for it.
  std::optional<std::vector<uint32_t>> tolerated;
  std::optional<reused_work> reused;
  std::vector<core::note> notes;
  row_timings took;
};

/// Delivers answers to clients. Must not block. After an answer with an image
/// it copies the bytes from the slot and then sends `taken_answer`.
class gateway {
public:
  virtual ~gateway() = default;
  virtual void answered(answer what) = 0;
  /// `state` is the slot of a published state that may carry a preview; invalid
  /// if none is wanted. It may be superseded or freed before it is read.
  virtual void progressed(core::request_id id, uint32_t steps_done,
                          uint32_t steps, ipc::slot_ref state) = 0;

  /// The suspicion changed for a request that keeps it. With `waits` the
  /// request is about to be tried alone, but not before `trial_noted` reports
  /// that this is recorded.
  virtual void suspected(core::request_id, core::suspicion, bool /*waits*/) {}
};

/// Reports of the scheduler to the supervisor and the planner.
class supervision {
public:
  virtual ~supervision() = default;
  virtual void suspect(ipc::process_life who, std::string why) = 0;
  /// A request on which the process worked caused its end.
  virtual void request_caused(ipc::process_life who) = 0;
  virtual void cluster_changed(planning::cluster_view there) = 0;
};

} // namespace atelier::actors
