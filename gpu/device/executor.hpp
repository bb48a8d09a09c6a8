// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>
#include <atelier/gpu/device/state_capture.hpp>
#include <atelier/ipc/slot_ref.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace atelier::gpu {

/// A row that the device takes on. It runs core::steps_to_run(how) steps, the
/// last ones of its schedule.
struct open_job {
  core::ticket who;
  core::recipe how;
  core::prompt_pair text;
  /// Holds the state to go on from: the drawn noise, a state of earlier work,
  /// or the last published one of an earlier attempt. Readable until the row's
  /// first publication.
  ipc::slot_ref from;
  /// Where this attempt publishes; written by this executor alone.
  ipc::slot_ref state;
  /// Where the decoded picture goes.
  ipc::slot_ref image;
  /// The picture, and perhaps the mask, that the row starts from
  /// (source_format.hpp); readable until the row is closed. Invalid where the
  /// row starts from noise alone.
  ipc::slot_ref source;
  /// Publish after every n steps, and after the last.
  uint32_t publish_every = 1;
  /// What is published after every so many steps, but for the last, carries a
  /// preview where the slot has room for one; 0: none.
  uint32_t preview_every = 0;
  /// Who scores the picture after decoding; empty: nobody.
  std::string judge = {};
  /// Who asks: tenants share what is decoded between steps
  /// (batching/decode_turns.hpp).
  core::tenant_id tenant = {};
  /// States to keep besides what is published, steps rising. Each slot gets the
  /// bytes that a publication after its steps has, without a preview. States
  /// that the row has passed when it is opened are left out. A capture that
  /// fails (slot too small, stale, written already) is logged and left out,
  /// too; the row goes on as if nobody had asked for it.
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

/// How far one row came in a run.
struct row_report {
  core::ticket who;
  /// Steps done since the request's start, earlier attempts included.
  uint32_t steps_done = 0;
  /// Whether the row's state slot holds a publication.
  bool published = false;
  core::error failure;
  /// What the client should know of its row, a sentence each; told in the row's
  /// first report that did not fail, and not again.
  std::vector<core::note> notes = {};
  /// The steps of the captures that were written since the row's last report,
  /// rising; also where the row failed.
  std::vector<uint32_t> captured = {};
};

/// What a run did. `steps` is equal for all rows that did not fail.
struct run_report {
  std::vector<row_report> rows;
  uint32_t steps = 0;
  /// From the run's begin to its end, without what was decoded between its
  /// steps, and `opening`.
  core::timespan took{0};
  /// Spent on opening rows before the first step (text encoding, reading).
  core::timespan opening{0};
  /// When the first step began; `never` where none did.
  core::time_point first_step = core::never;
  core::time_point ended = core::never;
};

/// What a decoding did.
struct decode_report {
  core::ticket who;
  /// Bytes of pixels in the image slot.
  uint64_t bytes = 0;
  /// Spent on it, without the steps that ran between its parts.
  core::timespan took{0};
  core::error failure;
  /// The judge's, 0..1; 0 where nobody was asked, `planning::unjudged` where it
  /// is not there or failed.
  double score = 0;
  core::time_point ended = core::never;
};

/// Receives an executor's results. Called from the executor's thread; must not
/// block: an actor's port posts a message.
struct executor_events {
  std::function<void(run_report)> ran;
  std::function<void(decode_report)> decoded;
  /// A loading ended.
  std::function<void(core::error)> loaded = {};
};

/// Where a device's work runs: one thread for each device; torch-free.
///
/// Jobs run in the order of their calls, but for decodings: one may go on in
/// parts between the steps of runs that were asked for after it, so that none
/// of those steps waits for long (batching/decode_share.hpp). At most one run
/// is pending at a time; opening, closing and decoding may be queued behind it.
/// Threads: calls from one owner; none blocks.
class executor {
public:
  virtual ~executor() = default;

  /// Tells where results go. Once, before the first job.
  virtual void connect(executor_events events) = 0;

  /// Work is about to come: wakes the device's thread ahead of it, if it
  /// sleeps.
  virtual void rouse() {}

  /// Takes a row on. What is wrong with it shows in its first run_report. A
  /// row whose state has all its steps ends its first run at once, complete.
  virtual void open(const open_job& job) = 0;

  /// Runs up to `job.steps` steps or until `interrupt`, publishing as each row
  /// asks; then calls `ran`.
  virtual void run(const run_job& job) = 0;

  /// Ends the pending run after the step in progress (at once where none
  /// began). Without effect where no run is pending.
  virtual void interrupt() = 0;

  /// Turns a row's latent into pixels in its image slot; then calls `decoded`,
  /// unless the row is closed before.
  virtual void decode(core::ticket who) = 0;

  /// Loads these variants; others may be forgotten. Returns true where they are
  /// there already; else calls `loaded` later, once for each call, in their
  /// order; with ec::cancelled where a later call came before it began.
  /// An executor whose variants are all resident from its start has nothing to
  /// do.
  /// @param keep variants that rows are open with, or will be; where there are
  ///        any, only if loads_beside says so. They stay; where both do not
  ///        fit, `loaded` tells out_of_resources and nothing has changed.
  virtual bool load(const std::vector<core::variant_id>& variants,
                    const std::vector<core::variant_id>& keep) {
    static_cast<void>(variants);
    static_cast<void>(keep);
    return true;
  }

  /// Has the models of these variants leave the device's memory, if they are
  /// there, until they are loaded again. No row is open with them.
  virtual void forget(const std::vector<core::variant_id>& variants) {
    static_cast<void>(variants);
  }

  /// Whether it can load while rows are open.
  virtual bool loads_beside() const {
    return false;
  }

  /// Returns what is there at the start; empty: all that it is made for.
  virtual std::vector<core::variant_id> resident() const {
    return {};
  }

  /// Forgets a row. Its slots are not touched afterwards.
  virtual void close(core::ticket who) = 0;
};

} // namespace atelier::gpu
