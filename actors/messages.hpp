// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every message between the actors of a request's path, in path order. Messages
// are plain structs without tensors, pointers or handles. They cross processes
// as bytes (wire.hpp) and hosts by CAF; types that stay inside one process are
// in local_messages.hpp.

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>
#include <atelier/core/typed_body.hpp>
#include <atelier/gpu/device/load_report.hpp>
#include <atelier/gpu/device/state_capture.hpp>
#include <atelier/ipc/keeper.hpp>
#include <atelier/ipc/slot_ref.hpp>
#include <atelier/planning/joining.hpp>
#include <atelier/planning/stage.hpp>

#include <caf/type_id.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace atelier::actors {

/// What a worker does.
enum class role : uint8_t {
  /// CPU process: the work before the steps of a leg.
  preprocess,
  /// A device: the steps of a leg.
  denoise_step,
  /// CPU process: the work after the steps, until the answer.
  postprocess,
  /// CPU process: facts about a request before it has a route.
  classifier,
  /// Control process: what is remembered of earlier requests.
  recall,
  /// A device: stages of a host on the device's thread, beside its steps.
  device_stage
};

std::string_view to_string(role x);

/// Address of a worker: one life of a process, and its place in that process.
struct worker_address {
  ipc::process_life process;
  actors::role role = actors::role::preprocess;
  uint32_t index = 0;

  friend auto operator<=>(const worker_address&,
                          const worker_address&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f,
                                                 worker_address& x) {
    return f(x.process.process, x.process.life, x.role, x.index);
  }
};

// -- from workers: announcing seats -------------------------------------------

/// A worker announces itself and accepts work up to its seats.
struct worker_ready {
  worker_address worker;
  uint32_t seats = 1;
  /// Name of the device; empty for workers on none.
  std::string device;
  /// Kind of the device; if empty, the beginning of its name.
  std::string kind;
  /// Names of the variants resident on the device, and of those that it may
  /// host; empty: any of the profile.
  std::vector<std::string> variants;
  std::vector<std::string> may_host;
  /// The variants that it tried to load at its start and could not.
  std::vector<gpu::load_failure> failed = {};
  /// Memory for the variants that it hosts at a time; 0: no bound.
  uint64_t memory_bytes = 0;
  /// It loads variants while its rows continue.
  bool loads_beside = false;
  uint32_t max_batch = 1;
  /// Maximum number of steps between two signs of life.
  uint32_t run_steps = 1;

  friend bool operator==(const worker_ready&, const worker_ready&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f,
                                                 worker_ready& x) {
    return f(x.worker, x.seats, x.device, x.kind, x.variants, x.may_host,
             x.failed, x.memory_bytes, x.loads_beside, x.max_batch,
             x.run_steps);
  }
};

// -- stages -------------------------------------------------------------------

/// Orders a stage's work for a request (planning/stage.hpp); answered with
/// `stage_done`.
struct run_stage {
  core::ticket ticket;
  /// Index in the pipeline.
  uint16_t stage = 0;
  /// How long the sender waits for the answer; the largest value: as long as
  /// the process lives.
  core::timespan left = core::timespan::max();
  /// The slots to read, and the new ones to write.
  planning::slot_set reads;
  planning::slot_set writes;
  /// The work is so short that waking another thread for it would cost more.
  bool is_short = false;
  /// The size of the request's image; empty before a route is chosen.
  core::extent px;
  core::typed_body order;

  friend bool operator==(const run_stage&, const run_stage&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, run_stage& x) {
    return f(x.ticket, x.stage, x.left, x.reads, x.writes, x.is_short, x.px,
             x.order);
  }
};

struct stage_done {
  core::ticket ticket;
  uint16_t stage = 0;
  core::error failure;
  core::timespan took{0};
  /// Notes for the client, one sentence each.
  std::vector<core::note> notes;
  /// When the work began, in nanoseconds on the host's monotonic clock.
  int64_t began_ns = 0;
  core::typed_body outcome;

  friend bool operator==(const stage_done&, const stage_done&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, stage_done& x) {
    return f(x.ticket, x.stage, x.failure, x.took, x.notes, x.began_ns,
             x.outcome);
  }
};

// -- denoising ----------------------------------------------------------------

/// Orders to run a leg from the state in `from`, to publish into `state` and to
/// decode into `image`.
struct denoise {
  core::ticket ticket;
  core::recipe recipe;
  core::prompt_pair text;
  ipc::slot_ref from;
  ipc::slot_ref state;
  ipc::slot_ref image;
  /// Source of an image-to-image run or an edit, readable until the reply;
  /// invalid for other runs.
  ipc::slot_ref source;
  /// Steps that `from` holds, as far as the sender knows.
  uint32_t steps_done = 0;
  core::priority prio = core::priority::normal;
  /// Nanoseconds on the host's monotonic clock; the largest value: none.
  int64_t deadline_ns = 0;
  core::tenant_id tenant = {};
  /// The tenant's share of the device (core::most_share).
  uint32_t share = 1;
  bool wants_progress = false;
  /// A preview is sent with the state after every so many steps; 0: none.
  uint32_t preview_every = 0;
  /// Name of the judge that scores the image; empty: none.
  std::string judge;
  /// Another row of the same batch follows: a worker whose batches join as a
  /// whole starts with the last one.
  bool more = false;
  /// States to keep on the way (gpu::open_job::captures).
  std::vector<gpu::state_capture> captures = {};

  friend bool operator==(const denoise&, const denoise&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, denoise& x) {
    return f(x.ticket, x.recipe, x.text, x.from, x.state, x.image, x.source,
             x.steps_done, x.prio, x.deadline_ns, x.tenant, x.share,
             x.wants_progress, x.preview_every, x.judge, x.more, x.captures);
  }
};

/// Reports that exactly these rows are in the worker's batch or in decoding
/// from now on. It is sent before the device sees them, so that a death names
/// its batch-mates.
struct stepping {
  worker_address worker;
  std::vector<core::ticket> rows;

  friend bool operator==(const stepping&, const stepping&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, stepping& x) {
    return f(x.worker, x.rows);
  }
};

/// Progress of one row.
struct row_progress {
  core::ticket ticket;
  uint32_t steps_done = 0;
  bool published = false;

  friend bool operator==(const row_progress&, const row_progress&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f,
                                                 row_progress& x) {
    return f(x.ticket, x.steps_done, x.published);
  }
};

/// A run of steps ended: the worker's sign of life.
struct stepped {
  worker_address worker;
  /// The rows that have news.
  std::vector<row_progress> rows;
  /// The number of rows in the run, and its steps.
  uint32_t batch = 0;
  uint32_t steps = 0;
  /// When the run ended, in nanoseconds on the host's monotonic clock; how long
  /// its steps took, and how long opening its new rows took before them.
  int64_t ended_ns = 0;
  core::timespan took{0};
  core::timespan opening{0};

  friend bool operator==(const stepped&, const stepped&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, stepped& x) {
    return f(x.worker, x.rows, x.batch, x.steps, x.ended_ns, x.took, x.opening);
  }
};

/// A leg ended; its pixels are in the image slot unless it failed.
struct denoised {
  core::ticket ticket;
  core::error failure;
  uint32_t steps_done = 0;
  /// Steps of this attempt only.
  uint32_t steps_run = 0;
  /// Its share of the time in which it was opened, with the rows that began at
  /// the same time.
  core::timespan text{0};
  core::timespan denoise{0};
  core::timespan decode{0};
  uint64_t bytes = 0;
  /// When the attempt's first step began, in nanoseconds on the host's
  /// monotonic clock; 0: none began.
  int64_t first_step_ns = 0;
  /// Notes for the client, as in `stage_done`.
  std::vector<core::note> notes;
  /// The judge's score, 0..1; 0 if no judge was requested, `planning::unjudged`
  /// if it failed.
  double score = 0;
  /// When decoding ended, in the same unit; 0: nothing was decoded.
  int64_t decoded_ns = 0;
  /// The steps of the captures whose slots hold their states, ascending; also
  /// set if the leg failed or was cancelled after them.
  std::vector<uint32_t> captured = {};
  /// Time spent on encoding the image that the leg started from; not part of
  /// `text`. 0: none was encoded.
  core::timespan encode{0};

  friend bool operator==(const denoised&, const denoised&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, denoised& x) {
    return f(x.ticket, x.failure, x.steps_done, x.steps_run, x.text, x.denoise,
             x.decode, x.bytes, x.first_step_ns, x.notes,
             core::float_bits{x.score}, x.decoded_ns, x.captured, x.encode);
  }
};

// -- hosting ------------------------------------------------------------------

/// Orders to host exactly these variants, and how to run batches. Answered with
/// `adopted` when each is loaded or has failed. New variants are sent only to a
/// worker that holds no row, unless it loads them beside its rows.
struct adopt {
  /// Rises with each one sent to a worker.
  uint32_t number = 0;
  /// Empty: the variants that it already has.
  std::vector<core::variant_id> hosting;
  uint32_t batch = 1;
  planning::joining join = planning::joining::step;
  /// Variants of rows that continue or may still arrive: they stay.
  std::vector<core::variant_id> keep;
  /// Variants that leave the device's memory once no row uses them.
  std::vector<core::variant_id> leaving;

  friend bool operator==(const adopt&, const adopt&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, adopt& x) {
    return f(x.number, x.hosting, x.batch, x.join, x.keep, x.leaving);
  }
};

struct adopted {
  worker_address worker;
  uint32_t number = 0;
  /// Set if no variant was loaded for this reason. A worker that loads beside
  /// its rows then still has its previous ones; others have none.
  core::error failure;
  /// The variants that were not loaded; the others were. out_of_resources here
  /// or in `failure`, from a worker that loads beside its rows, means that they
  /// do not fit beside what runs.
  std::vector<gpu::load_failure> failed = {};

  friend bool operator==(const adopted&, const adopted&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, adopted& x) {
    return f(x.worker, x.number, x.failure, x.failed);
  }
};

// -- cancelling ---------------------------------------------------------------

/// Orders to stop working on this ticket. It is still answered, as cancelled,
/// so that its seat and slots are freed.
struct cancel_work {
  core::ticket ticket;

  friend bool operator==(const cancel_work&, const cancel_work&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, cancel_work& x) {
    return f(x.ticket);
  }
};

// -- asking -------------------------------------------------------------------

/// Asks a worker about an order of which the scheduler heard nothing for long.
struct ask_order {
  core::ticket ticket;

  friend bool operator==(const ask_order&, const ask_order&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, ask_order& x) {
    return f(x.ticket);
  }
};

/// Answers `ask_order`, after all answers that the worker gave before. If it
/// does not have the order, that or its answer was lost on the way.
struct has_order {
  core::ticket ticket;
  bool has = false;

  friend bool operator==(const has_order&, const has_order&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, has_order& x) {
    return f(x.ticket, x.has);
  }
};

// -- processes ----------------------------------------------------------------

/// Assigns a new process its part; the first record of its life.
struct setup {
  /// "cpu" or the name of a device.
  std::string part;
  /// All settings as TOML.
  std::string settings;
  /// Names, versions and order of the pipeline's stages: a process whose stages
  /// differ ends.
  std::string stages;
  /// A device begins without models, and loads them by orders.
  bool bare = false;
  /// What the files of the settings' models were at the engine's start, by
  /// place (gpu::content_digest); empty for models that no device has.
  std::vector<std::string> digests = {};

  friend bool operator==(const setup&, const setup&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, setup& x) {
    return f(x.part, x.settings, x.stages, x.bare, x.digests);
  }
};

/// Asks a process for a sign of life.
struct ping {
  uint64_t number = 0;

  friend bool operator==(const ping&, const ping&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, ping& x) {
    return f(x.number);
  }
};

/// Counts an actor's handlers that ran for long and waited meanwhile.
struct blocked_handlers {
  std::string actor;
  uint64_t count = 0;

  friend bool operator==(const blocked_handlers&,
                         const blocked_handlers&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f,
                                                 blocked_handlers& x) {
    return f(x.actor, x.count);
  }
};

struct pong {
  ipc::process_life process;
  uint64_t number = 0;
  /// Counts of this life until now.
  std::vector<blocked_handlers> blocked = {};

  friend bool operator==(const pong&, const pong&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, pong& x) {
    return f(x.process.process, x.process.life, x.number, x.blocked);
  }
};

/// A new process cannot be set up as ordered, and ends.
struct setup_refused {
  ipc::process_life process;
  core::error why;

  friend bool operator==(const setup_refused&, const setup_refused&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f,
                                                 setup_refused& x) {
    return f(x.process.process, x.process.life, x.why);
  }
};

/// Asks a process to end.
struct leave {
  friend bool operator==(const leave&, const leave&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, leave&) {
    return f();
  }
};

/// What the scheduler sends to a worker.
using work = std::variant<run_stage, denoise, cancel_work, adopt, ask_order>;

/// What a worker sends to the scheduler.
using report = std::variant<worker_ready, stage_done, stepping, stepped,
                            denoised, adopted, has_order>;

} // namespace atelier::actors

CAF_BEGIN_TYPE_ID_BLOCK(atelier, first_custom_type_id)

  CAF_ADD_TYPE_ID(atelier, (atelier::actors::worker_ready))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::run_stage))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::stage_done))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::denoise))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::stepping))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::stepped))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::denoised))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::cancel_work))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::setup))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::ping))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::pong))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::leave))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::adopt))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::adopted))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::setup_refused))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::ask_order))
  CAF_ADD_TYPE_ID(atelier, (atelier::actors::has_order))

CAF_END_TYPE_ID_BLOCK(atelier)
