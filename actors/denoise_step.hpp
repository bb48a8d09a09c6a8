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

/// What a denoise-step worker is made of.
struct denoise_step_config {
  worker_address self;
  std::string device;
  /// What kind of device that is; empty: what its name begins with.
  std::string kind;
  /// Those resident, and those that it may host; empty: any.
  std::vector<std::string> variants;
  std::vector<std::string> may_host;
  /// Of what it hosts at a time; 0: no bound.
  uint64_t memory_bytes = 0;
  /// Requests held at a time, waiting ones included; at least max_batch.
  uint32_t seats = 16;
  /// Rows of one step, at least 1.
  uint32_t max_batch = 8;
  /// Steps of one run of the executor at most: a row that waits, a sign of life
  /// and progress wait that long.
  uint32_t run_steps = 1;
  /// Publish a row's state after every n steps.
  uint32_t publish_every = 1;
  /// Handle the executor's news on the thread that they come from, if that is
  /// one thread of the executor's own.
  bool on_executor_thread = false;
  std::shared_ptr<gpu::executor> device_executor;
  std::shared_ptr<hub_port> hub;
};

struct denoise_step_state {
  static inline const char* name = "denoise_step";

  /// One row here.
  struct entry {
    denoise what;
    bool opened = false;
    bool decoding = false;
    bool cancelled = false;
    /// Reported `published` to the hub.
    bool told_published = false;
    /// That it has when it ends.
    uint32_t steps = 0;
    uint32_t steps_done = 0;
    uint32_t steps_run = 0;
    std::vector<core::note> notes;
    std::vector<uint32_t> captured;
    core::timespan opening{0};
    core::timespan denoising{0};
    int64_t first_step_ns = 0;
  };

  denoise_step_config config;
  std::unordered_map<core::ticket, entry> rows;
  std::optional<planning::step_batch> batch;
  /// How rows join; as the last `adopt` says.
  planning::joining join = planning::joining::step;
  /// The last `adopt`, until it is answered.
  std::optional<uint32_t> adopting;
  /// Variants that leave once no row is here with them.
  std::set<core::variant_id> leaving;
  /// Loadings that the device has not told the end of.
  uint32_t loadings = 0;
  /// The rows of the pending run, empty where none is; how many it opens.
  std::vector<core::ticket> running;
  uint32_t opens = 0;
  /// What opening a row, and a step, took of late.
  core::timespan opening_each{0};
  core::timespan step_each{0};
  /// The rows that the device decodes, or will between its next steps.
  std::vector<core::ticket> decoding;
  /// The batch that the hub knows of: those in decoding, then those that run.
  std::vector<core::ticket> told;
  /// Cancels that came before their work; bounded, oldest first.
  std::set<core::ticket> tombstones;
  std::deque<core::ticket> tombstone_order;

  /// Takes a row, and starts a run where the worker is idle and the row's batch
  /// complete.
  void admit(const denoise& x);
  /// Puts a row into the batch; one that was cancelled before it came is
  /// answered.
  void take_in(const denoise& x);
  void cancel(core::ticket who);
  void complete_run(const gpu::run_report& x);
  void complete_decoding(const gpu::decode_report& x);
  void start_next_run();
  /// Leaves rows out of the next run whose opening would delay the others for
  /// too long. Returns whether it did.
  bool hold_back(std::vector<core::ticket>& next) const;
  void adopt_hosting(const adopt& x);
  void complete_loading(const core::error& why);
  /// Has the device forget those that leave and have no row.
  void let_go();
  /// Reports the end of a row and forgets it. `decoded` tells of its decoding;
  /// null: there was none.
  void conclude(core::ticket who, core::error why,
                const gpu::decode_report* decoded = nullptr);
};

/// Runs a device's rows: between any two runs ended rows leave and waiting ones
/// join. Announces itself at its start.
/// Threads: never blocks; the executor posts its results back.
denoise_step_actor::behavior_type denoise_step(
  self_of<denoise_step_actor, denoise_step_state> self,
  denoise_step_config config);

} // namespace atelier::actors
