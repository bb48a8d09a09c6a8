// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/handler_watch.hpp>
#include <atelier/actors/interfaces.hpp>
#include <atelier/actors/ports.hpp>
#include <atelier/core/note.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/planning/step_batch.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace atelier::actors {

/// Configuration of a denoise-step worker.
struct denoise_step_config {
  worker_address self;
  std::string device;
  /// Kind of the device; if empty, the beginning of its name.
  std::string kind;
  /// The resident variants, and those that it may host; empty: any.
  std::vector<std::string> variants;
  std::vector<std::string> may_host;
  /// By variant, the first one with the same weights (planning/grouping.hpp);
  /// for others, the variant itself.
  std::vector<core::variant_id> weights = {};
  /// The variants that could not be loaded at the start.
  std::vector<gpu::load_failure> failed = {};
  /// Memory for the variants that it hosts at a time; 0: no bound.
  uint64_t memory_bytes = 0;
  /// Requests held at a time, including waiting ones; at least max_batch.
  uint32_t seats = 16;
  /// Rows of one step, at least 1.
  uint32_t max_batch = 8;
  /// Maximum number of steps in one run of the executor: waiting rows, signs of
  /// life and progress are delayed by up to one run.
  uint32_t run_steps = 1;
  /// Publishes a row's state after every n steps.
  uint32_t publish_every = 1;
  /// Handles the executor's events on the thread that delivers them, if that is
  /// a single thread of the executor's own.
  bool on_executor_thread = false;
  std::shared_ptr<gpu::executor> device_executor;
  std::shared_ptr<scheduler_port> scheduler;
};

struct denoise_step_state {
  static inline const char* name = "denoise_step";

  /// One row of this worker.
  struct entry {
    denoise order;
    bool opened = false;
    bool decoding = false;
    bool cancelled = false;
    /// `published` was reported to the scheduler.
    bool told_published = false;
    /// Number of steps when the row is complete.
    uint32_t steps = 0;
    uint32_t steps_done = 0;
    uint32_t steps_run = 0;
    std::vector<core::note> notes;
    std::vector<uint32_t> captured;
    /// Without `encoding`.
    core::timespan opening{0};
    core::timespan encoding{0};
    core::timespan denoising{0};
    int64_t first_step_ns = 0;
  };

  denoise_step_config config;
  std::unordered_map<core::ticket, entry> rows;
  std::optional<planning::step_batch> batch;
  /// How rows join; set by the last `adopt`.
  planning::joining join = planning::joining::step;
  /// The last `adopt`, until it is answered.
  std::optional<uint32_t> adopting;
  /// Variants that leave once no row here uses them.
  std::set<core::variant_id> leaving;
  /// Loads whose end the device has not reported yet.
  uint32_t loadings = 0;
  /// The rows of the pending run, empty if none; and how many of them it opens.
  std::vector<core::ticket> running;
  uint32_t opens = 0;
  /// Recent time for opening a row and for a step.
  core::timespan opening_each{0};
  core::timespan step_each{0};
  /// The rows that the device decodes now or will decode between its next
  /// steps.
  std::vector<core::ticket> decoding;
  /// The batch as last reported to the scheduler: rows in decoding, then
  /// running rows.
  std::vector<core::ticket> told;
  /// Cancellations that arrived before their work; bounded, oldest first.
  std::set<core::ticket> tombstones;
  std::deque<core::ticket> tombstone_order;

  /// Accepts a row, and starts a run if the worker is idle and the row's batch
  /// is complete.
  void admit(const denoise& x);
  planning::batch_shape shape_of(const core::recipe& how) const;
  /// Puts a row into the batch; a row that was cancelled before it arrived is
  /// answered.
  void take_in(const denoise& x);
  void cancel(core::ticket who);
  void complete_run(const gpu::run_report& x);
  void complete_decoding(const gpu::decode_report& x);
  void start_next_run();
  /// Leaves rows out of the next run if opening them would delay the others for
  /// too long. Returns whether it did.
  bool hold_back(std::vector<core::ticket>& next) const;
  void adopt_hosting(const adopt& x);
  void complete_loading(gpu::load_report x);
  /// Makes the device unload leaving variants that have no row.
  void let_go();
  /// Answers all rows that the device does not run now, so that they are tried
  /// again: a handler threw.
  void give_back(const core::error& why);
  /// Reports whether a row is in the batch or in decoding. A row that is in
  /// neither ends.
  void tell_of(core::ticket who);
  /// Reports the end of a row and forgets it.
  /// @param decoded its decoding; null: it had none
  void conclude(core::ticket who, core::error why,
                const gpu::decode_report* decoded = nullptr);
};

/// Runs a device's rows: between any two runs, finished rows leave and waiting
/// ones join. Announces itself at its start.
/// Threads: never blocks; the executor posts its results back.
denoise_step_actor::behavior_type denoise_step(
  self_of<denoise_step_actor, denoise_step_state> self,
  denoise_step_config config);

} // namespace atelier::actors
