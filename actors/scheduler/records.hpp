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

/// Counts events and draws them for human readers. This part of the scheduler
/// observes and decides nothing; it has no row, no worker and no queue.
/// Threads: one at a time.
class records {
public:
  /// @param variants number of variants in the profile
  /// @param drawing null: nothing is drawn
  records(size_t variants, std::shared_ptr<timeline> drawing);

  const counters& counts() const;
  recovery_counts recovery(core::time_point now) const;

  /// Whether a timeline is drawn; otherwise no track needs to be made.
  bool draws() const {
    return drawing_ != nullptr;
  }

  /// Raises a count that nothing is drawn for.
  void count(uint64_t counters::*which, uint64_t times = 1) {
    counts_.*which += times;
  }

  // -- requests ---------------------------------------------------------------

  /// Notes the extra work and the extra pixels of a request compared with a
  /// variant's usual image.
  void extra_work(core::variant_id variant, double times, double pixels);

  void accepted(const core::request& x);
  void refused(const core::request& x, const core::error& why,
               core::time_point now);

  /// How an accepted request ended.
  struct ending {
    core::request_id request;
    /// Name of its variant; empty if it has none.
    std::string_view variant;
    uint32_t steps_run = 0;
  };

  /// It was accepted, and refused when its route was chosen; `refused` follows.
  void turned_away(const ending& x, const core::error& why,
                   core::time_point now);
  void answered(const ending& x, core::time_point now);
  void failed(const ending& x, const core::error& why, core::time_point now);
  void cancelled(const ending& x, const core::error& why, core::time_point now);

  /// No request is open.
  void rest();

  // -- questions before the route ---------------------------------------------

  /// Notes a search that ended, and keeps the last ones.
  void retrieved(const planning::retrieval_sample& x);

  /// Notes a prediction of a hit whose search ended.
  void checked(const planning::checked_prediction& x);

  /// Notes how many steps the found work allows to leave out.
  void allowed(uint32_t steps);

  /// Notes the steps that a predictor tolerates, by ladder.
  void predicted(std::span<const uint32_t> tolerated);

  /// Notes a route that leaves out `skip` steps.
  void hit(uint32_t skip);

  /// Notes an edit with this masked share.
  void edit(double masked);

  // -- queues and dispatches --------------------------------------------------

  /// Notes a request that enters or leaves a variant's queues.
  void waits(core::variant_id variant, bool comes);

  /// Notes the same for a queue that several workers share.
  void waits_shared(core::variant_id queue, bool comes);

  void waited(core::request_id request, core::phase before,
              core::time_point since, core::time_point now);

  /// Notes a dispatch that ended.
  /// @param worker none if it is gone or no timeline is drawn
  void returned(core::request_id request, core::phase at,
                core::time_point since,
                const std::optional<timeline_track>& worker,
                const core::error& why, core::time_point now);

  /// Notes the parts of a dispatch that a worker reports.
  void parts_of(core::request_id request, core::time_point since,
                const denoised& told, core::time_point now);

  /// Notes a part of a request's work on its worker's track.
  /// @param worker none if no timeline is drawn
  void worked(const std::optional<timeline_track>& worker,
              std::string_view name, core::request_id request, int64_t began_ns,
              core::timespan took);

  /// Notes a stage that was left out because it failed, found no free worker or
  /// was late.
  void stage_left_out(size_t stage);

  /// Notes a request that waits again after its dispatch ended without a
  /// result.
  void fell_back(core::request_id request, bool resumes, uint32_t steps_done,
                 const core::error& why, core::time_point now);

  /// Notes a run of steps.
  /// @param worker none if no timeline is drawn
  /// @param batch the rows that the worker reported: those in decoding, then
  ///        those of the run
  void ran(const std::optional<timeline_track>& worker, const stepped& x,
           std::span<const core::ticket> batch);

  /// Notes a step of one request, or that it had all of them.
  void stepped_on(core::request_id request, core::time_point now);

  /// Notes a judge's score of an image. Returns the value that a gate compares:
  /// at most 1, and planning::unjudged if the judge failed.
  double judged(double told);

  void encoded(core::time_point now);

  // -- workers and processes --------------------------------------------------

  /// A worker of the process announced itself.
  void ready(core::process_id who, core::time_point now);
  void down(core::process_id who, core::time_point now);

  /// @param denoised the requests that were denoised there
  /// @param open whether any request is open
  void lost(core::process_id who, std::vector<core::request_id> denoised,
            bool open, core::time_point now);

  /// Draws into the timeline the death of a worker that ran these requests.
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
