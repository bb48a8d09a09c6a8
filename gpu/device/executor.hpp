// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>
#include <atelier/gpu/device/load_report.hpp>
#include <atelier/gpu/device/state_capture.hpp>
#include <atelier/ipc/slot_ref.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace atelier::gpu {

/// A row for the device to run. It runs core::steps_to_run(how) steps, the last
/// ones of its schedule.
struct open_job {
  core::ticket ticket;
  core::recipe recipe;
  core::prompt_pair text;
  /// Holds the state to start from: the drawn noise, a state of earlier work,
  /// or the last state published by an earlier attempt. Readable until the
  /// row's first publication.
  ipc::slot_ref from;
  /// The slot for this attempt's states; only this executor writes to it.
  ipc::slot_ref state;
  /// The slot for the decoded image.
  ipc::slot_ref image;
  /// The image, and optionally the mask, that the row starts from
  /// (source_format.hpp). It is readable until the row is closed, and invalid
  /// if the row starts from noise only.
  ipc::slot_ref source;
  /// Publish after every n steps, and after the last.
  uint32_t publish_every = 1;
  /// States published after a multiple of this many steps carry a preview if
  /// the slot has room for one; the last state carries none. 0 disables
  /// previews.
  uint32_t preview_every = 0;
  /// The judge that scores the decoded image; empty: no judge.
  std::string judge = {};
  /// The tenant of the request. Tenants share the decoding between steps
  /// (batching/decode_turns.hpp).
  core::tenant_id tenant = {};
  /// The tenant's share of this time (core::most_share).
  uint32_t share = 1;
  /// States to keep in addition to the published ones, in increasing order of
  /// steps. Each slot receives the bytes of a publication after that many
  /// steps, without a preview. States that the row has passed when it is opened
  /// are left out. A capture that fails (the slot is too small, stale or
  /// already written) is logged and left out; the row is not affected.
  std::vector<state_capture> captures = {};
};

/// Returns whether the state after `steps_done` of `steps` carries a preview.
inline bool wants_preview(const open_job& job, uint32_t steps_done,
                          uint32_t steps) {
  return job.preview_every > 0 && steps_done % job.preview_every == 0
      && steps_done < steps;
}

/// Up to `steps` steps over rows of one shape.
struct run_job {
  std::vector<core::ticket> rows;
  uint32_t steps = 1;
};

/// The progress of one row in a run.
struct row_report {
  core::ticket ticket;
  /// Steps done since the request's start, including earlier attempts.
  uint32_t steps_done = 0;
  /// Whether the row's state slot holds a publication.
  bool published = false;
  core::error failure;
  /// Notes for the client about its row, one sentence each; reported once, in
  /// the row's first report that did not fail.
  std::vector<core::note> notes = {};
  /// The steps of the captures written since the row's last report, in
  /// increasing order. Also set if the row failed.
  std::vector<uint32_t> captured = {};
  /// Time spent on encoding the row's source, as a part of the run's `opening`;
  /// reported once. 0: nothing was encoded.
  core::timespan encoding{0};
};

/// The result of a run. `steps` is equal for all rows that did not fail.
struct run_report {
  std::vector<row_report> rows;
  uint32_t steps = 0;
  /// Time from the run's start to its end, without decoding between its steps
  /// and without `opening`.
  core::timespan took{0};
  /// Time spent on opening rows before the first step (text encoding, reading).
  core::timespan opening{0};
  /// When the first step began; `never` if no step began.
  core::time_point first_step = core::never;
  core::time_point ended = core::never;
};

/// The result of a decoding.
struct decode_report {
  core::ticket ticket;
  /// Bytes of pixels in the image slot.
  uint64_t bytes = 0;
  /// Time spent on decoding, without the steps that ran between its parts.
  core::timespan took{0};
  core::error failure;
  /// The judge's score in 0..1; 0 without a judge, `planning::unjudged` if the
  /// judge is missing or failed.
  double score = 0;
  core::time_point ended = core::never;
};

/// Receives an executor's results. Called from the executor's thread; must not
/// block: an actor's port posts a message.
struct executor_events {
  std::function<void(run_report)> ran;
  std::function<void(decode_report)> decoded;
  /// Called when a loading ended.
  std::function<void(load_report)> loaded = {};
};

/// Runs a device's work on one thread per device, behind an interface without
/// LibTorch.
///
/// Jobs run in the order of their calls, except for decodings: a decoding may
/// continue in parts between the steps of runs requested after it, so that none
/// of those steps waits for long (batching/decode_turns.hpp). At most one run
/// is pending at a time; opening, closing and decoding may be queued behind it.
/// Threads: calls from one owner; none blocks.
class executor {
public:
  virtual ~executor() = default;

  /// Sets the receiver of results. Called once, before the first job.
  virtual void connect(executor_events events) = 0;

  /// Announces work: wakes the device's thread in advance if it sleeps.
  virtual void rouse() {}

  /// Opens a row. Errors in it are reported in its first run_report. A row
  /// whose state has all its steps completes its first run at once.
  virtual void open(const open_job& job) = 0;

  /// Runs up to `job.steps` steps or until `interrupt`, publishing as each row
  /// requests; then calls `ran`.
  virtual void run(const run_job& job) = 0;

  /// Ends the pending run after the step in progress, or at once if no step
  /// began. Has no effect if no run is pending.
  virtual void interrupt() = 0;

  /// Turns a row's latent into pixels in its image slot, then calls `decoded`
  /// unless the row is closed before.
  virtual void decode(core::ticket who) = 0;

  /// Runs `work` once, on the device's thread after the jobs requested before
  /// it and never during a run of steps; a stage of a host uses the device
  /// there (planning/stage.hpp). Work that is dropped counts as failed. An
  /// executor without an own way runs it at once, on the caller's thread.
  virtual void call(std::function<void()> work) {
    work();
  }

  /// Loads these variants; others may be unloaded. Returns true if they are
  /// already loaded. Otherwise calls `loaded` later, once for each call, in the
  /// order of the calls; with ec::cancelled if a later call was made before the
  /// loading began. A variant that cannot be loaded does not keep the others
  /// from being loaded.
  /// An executor whose variants are all resident from its start has nothing to
  /// do.
  /// @param keep variants of rows that are or will be open; not empty only if
  ///        loads_beside returns true. They stay loaded; if both do not fit,
  ///        `loaded` receives out_of_resources and nothing changes.
  virtual bool load(const std::vector<core::variant_id>& variants,
                    const std::vector<core::variant_id>& keep) {
    static_cast<void>(variants);
    static_cast<void>(keep);
    return true;
  }

  /// Unloads the models of these variants, if loaded, from the device's memory
  /// until they are loaded again. No open row uses them.
  virtual void forget(const std::vector<core::variant_id>& variants) {
    static_cast<void>(variants);
  }

  /// Returns whether it can load while rows are open.
  virtual bool loads_beside() const {
    return false;
  }

  /// Returns the variants loaded at the start; empty means all of its variants
  /// that did not fail.
  virtual std::vector<core::variant_id> resident() const {
    return {};
  }

  /// Returns the variants that were to be loaded at the start and could not be.
  virtual std::vector<load_failure> failed_at_start() const {
    return {};
  }

  /// Closes a row. Its slots are not accessed afterwards.
  virtual void close(core::ticket who) = 0;
};

} // namespace atelier::gpu
