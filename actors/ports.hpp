// SPDX-License-Identifier: Apache-2.0
#pragma once

// The seams around the scheduler and the workers: what the wiring injects.
// Live and simulated forms differ; the actors do not.

#include <atelier/actors/messages.hpp>
#include <atelier/core/error.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
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
/// Threads: any. Never blocks: what a ring does not take now is queued; what is
/// meant for a life that is over is dropped.
class handoff {
public:
  virtual ~handoff() = default;
  virtual void send(const worker_address& to, work what) = 0;

  /// The sender's event is over: what was kept for running on its thread runs
  /// now. Called by the scheduler alone.
  virtual void settle() {}
};

/// Carries workers' reports to the scheduler; otherwise like `handoff`.
class hub_port {
public:
  virtual ~hub_port() = default;
  virtual void send(report what) = 0;

  /// Puts a report where it survives this process, but wakes nobody for it:
  /// the next `send` or `nudge` does.
  virtual void send_quietly(report what) {
    send(std::move(what));
  }

  virtual void nudge() {}
};

/// Where a request's time went.
struct row_timings {
  core::timespan queue{0};
  core::timespan preprocess{0};
  core::timespan text{0};
  core::timespan denoise{0};
  core::timespan decode{0};
  core::timespan postprocess{0};
  /// From arrival to the begin of the first step.
  core::timespan first_step{0};
  core::timespan total{0};
};

/// The end of a request: a picture in a slot, or the reason why not.
struct answer {
  std::shared_ptr<const core::request> what;
  core::error failure;
  core::timespan retry_after{0};
  ipc::slot_ref image;
  uint64_t bytes = 0;
  std::string sha256;
  core::recipe how;
  std::string model;
  std::string variant;
  std::string route;
  uint32_t steps_run = 0;
  /// Predicted tolerated level of each of the profile's ladders; none where
  /// nobody asked.
  std::optional<std::vector<uint32_t>> tolerated;
  std::vector<core::note> notes;
  row_timings took;
};

/// Takes answers to clients. Must not block. After an answer with a picture it
/// copies the bytes from the slot and then sends `taken_answer`.
class gateway {
public:
  virtual ~gateway() = default;
  virtual void answered(answer what) = 0;
  /// `state`: where a published state may carry a preview, invalid where none
  /// is wanted. It may be superseded or given away before it is read.
  virtual void progressed(core::request_id id, uint32_t steps_done,
                          uint32_t steps, ipc::slot_ref state) = 0;

  /// The suspicion of a request that keeps it changed. With `waits` the request
  /// is about to be tried alone, but not before `trial_noted` says that this is
  /// written down.
  virtual void suspected(core::request_id, core::suspicion, bool /*waits*/) {}
};

/// Gives what was found of earlier work, where no stage fetches it.
class found_work {
public:
  virtual ~found_work() = default;

  /// Publishes the kept picture of an earlier match, as a device leaves one:
  /// pixels of size `px` in the image slot `into`. False, and nothing is
  /// published, where there is none of that size, or none any more. Must not
  /// block.
  virtual bool give_picture(uint64_t entry, core::extent px,
                            ipc::slot_ref into) = 0;

  /// Publishes what an earlier match left after `steps` steps, as a device
  /// leaves it, in the state slot `into`; of a kept picture what it is when it
  /// is noised for the steps that are left. False, and nothing is published,
  /// where there is none, or none any more. Must not block.
  virtual bool give_state(uint64_t entry, uint32_t steps,
                          ipc::slot_ref into) = 0;
};

/// What the hub tells the supervisor and the planner.
class supervision {
public:
  virtual ~supervision() = default;
  virtual void suspect(ipc::process_life who, std::string why) = 0;
  /// A request that the process worked on caused its end.
  virtual void request_caused(ipc::process_life who) = 0;
  virtual void cluster_changed(planning::cluster_view there) = 0;
};

} // namespace atelier::actors
