// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/local_messages.hpp>
#include <atelier/actors/messages.hpp>
#include <atelier/actors/recovery_watch.hpp>
#include <atelier/actors/timeline.hpp>
#include <atelier/core/error.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/suspicion.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace atelier::actors {

/// What happened, counted and drawn for people. A part of the scheduler that
/// observes and decides nothing: no row, no worker, no queue.
/// Threads: one at a time.
class records {
public:
  /// @param variants of the profile
  /// @param drawing null: nothing is drawn
  records(size_t variants, std::shared_ptr<timeline> drawing);

  const counters& counts() const;
  recovery_counts recovery(core::time_point now) const;

  /// Whether anybody looks at what is drawn; else no track need be made.
  bool draws() const {
    return drawing_ != nullptr;
  }

  // -- requests ---------------------------------------------------------------

  void arrived();

  /// Notes what a request takes of a variant beyond the usual one.
  void extra_work(core::variant_id variant, double times);

  void accepted(const core::request& x);
  void refused(const core::request& x, const core::error& why,
               core::time_point now);

  /// How an accepted request ended.
  struct ending {
    core::request_id request;
    /// Name of its variant; empty: it has none.
    std::string_view variant;
    uint32_t steps_run = 0;
  };

  /// It was accepted, and refused when its route was chosen; `refused` follows.
  void turned_away(const ending& x, const core::error& why,
                   core::time_point now);
  void answered(const ending& x, core::time_point now);
  void failed(const ending& x, const core::error& why, core::time_point now);
  void cancelled(const ending& x, const core::error& why, core::time_point now);

  /// No request is open any more.
  void rest();

  // -- what is asked before ---------------------------------------------------

  void searched();
  void facts_late();

  /// Notes a search that ended, and keeps the last ones.
  void retrieved(const planning::retrieval_sample& x);

  /// Notes the steps that what was found allows to leave out.
  void allowed(uint32_t steps);

  /// Notes the steps that a predictor tolerates, by ladder.
  void predicted(std::span<const uint32_t> tolerated);

  /// Notes a route that leaves out so many steps.
  void hit(uint32_t skip);

  /// Notes an edit with this masked share.
  void edit(double masked);

  // -- queues and dispatches --------------------------------------------------

  /// Notes a request that comes to, or leaves, a variant's queues.
  void waits(core::variant_id variant, bool comes);

  /// Notes likewise for a queue that several workers share.
  void waits_shared(core::variant_id queue, bool comes);

  void waited(core::request_id request, core::phase before,
              core::time_point since, core::time_point now);
  void slot_wait();
  void dispatched();
  void stale_reply();

  /// Notes a dispatch that ended.
  /// @param worker none: it is gone, or nobody looks
  void returned(core::request_id request, core::phase at,
                core::time_point since,
                const std::optional<timeline_track>& worker,
                const core::error& why, core::time_point now);

  /// Notes what a worker tells of a dispatch's parts.
  void parts_of(core::request_id request, core::time_point since,
                const denoised& told, core::time_point now);

  /// Notes a part of a request's work on its worker's track.
  /// @param worker none: nobody looks
  void worked(const std::optional<timeline_track>& worker,
              std::string_view name, core::request_id request, int64_t began_ns,
              core::timespan took);

  void resumed();

  /// Notes a stage that failed, found nobody free or was late, and was left
  /// out.
  void stage_left_out(size_t stage);

  /// Notes states that a device kept for later requests.
  void captured(uint64_t states);

  /// Notes a request that waits again after its dispatch ended with nothing.
  void fell_back(core::request_id request, bool resumes, uint32_t steps_done,
                 const core::error& why, core::time_point now);

  void steps_run(uint64_t steps);

  /// Notes a run of steps of these requests.
  /// @param worker none: nobody looks
  void ran(const std::optional<timeline_track>& worker, const stepped& x,
           std::span<const core::ticket> batch);

  /// Notes a step of one request, or that it had all of them.
  void stepped_on(core::request_id request, core::time_point now);

  /// Notes what a judge said of a picture; nothing: it failed at that.
  void judged(std::optional<double> score);

  void encoded(core::time_point now);

  // -- workers and processes --------------------------------------------------

  void loads();

  /// A worker of the process announced itself.
  void ready(core::process_id who, core::time_point now);
  void down(core::process_id who, core::time_point now);

  /// @param denoised the requests that were denoised there
  /// @param open whether any request is open
  void lost(core::process_id who, std::vector<core::request_id> denoised,
            bool open, core::time_point now);

  void worker_lost();

  /// Draws a worker's death, in the middle of these requests.
  void died(const timeline_track& worker, std::span<const core::ticket> had,
            core::time_point now);

private:
  void draw_end(const ending& x, std::string_view how, const core::error& why,
                core::time_point now);

  size_t variants_;
  std::shared_ptr<timeline> drawing_;
  counters counts_;
  recovery_watch recovery_;
};

/// Returns the track of a worker.
timeline_track track_of(const worker_address& where, const std::string& device);

} // namespace atelier::actors
