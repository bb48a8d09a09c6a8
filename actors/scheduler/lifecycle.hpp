// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/asides.hpp>
#include <atelier/actors/scheduler/endings.hpp>
#include <atelier/actors/scheduler/parts.hpp>
#include <atelier/actors/scheduler/queueing.hpp>
#include <atelier/actors/scheduler/routing.hpp>

namespace atelier::actors {

/// Moves rows from stage to stage of the pipeline:
///
///   before_route  choose_route, while its policy asks (aside)
///   each_leg      next_stage ... denoise ... next_stage, leg_over
///   before_answer next_stage ... answer
///   after_answer  (aside)
///
/// One dispatch moves a row. Work that runs aside delays no request.
/// Threads: one at a time.
class lifecycle {
public:
  /// @pre the parts outlive it
  lifecycle(parts& of, queueing& waiting, routing& routes, asides& beside,
            endings& ends);

  // -- before the route -------------------------------------------------------

  /// Begins an accepted row.
  void begin(core::request_id id, row& r, core::time_point now);

  /// All that will be known of a row's question is known.
  void questions_over(core::request_id id, row& r, core::time_point now);

  /// An order beside the path ended.
  void aside_over(const stage_done& x, const dispatched& was, core::error why,
                  core::time_point now);

  // -- legs and stages --------------------------------------------------------

  /// Continues a row with the first due stage, counted from `from`, that has
  /// work to do.
  void next_stage(core::request_id id, row& r, size_t from,
                  core::time_point now);

  /// A stage of the row's path failed and is not tried again.
  void stage_failed(core::request_id id, row& r, core::error why,
                    core::time_point now);

  /// Makes the row hold what a stage wrote for it.
  core::result<void> keep(row& r, const held_slots& wrote);

  /// Continues a row without its running leg: with the next one, or with the
  /// answer.
  void advance(core::request_id id, row& r, core::time_point now);

  /// Ends the leg of a waiting row: another one may follow.
  void leg_failed(core::request_id id, row& r, core::error why,
                  core::time_point now);

  /// Begins the leg of a row anew, whose state is lost.
  void restart_leg(core::request_id id, row& r, const core::error& why,
                   core::time_point now);

  /// Begins the leg of a waiting row anew, for a variant that its preparation
  /// does not fit.
  void prepare_for(core::request_id id, row& r, core::variant_id variant,
                   core::time_point now);

  // -- time -------------------------------------------------------------------

  /// Ends a row that is due, or continues with the image that it has.
  void expire(core::request_id id, row& r, core::time_point now);

private:
  /// Asks for facts; false if no stage looks for any.
  bool ask(core::request_id id, row& r, const planning::need& wants,
           core::time_point now);
  void choose_route(core::request_id id, row& r, core::time_point now);
  void choose_again(core::request_id id, row& r, core::time_point now);
  /// The image that was found for a row counts as its image.
  void take_match_as_image(row& r);
  void begin_leg(core::request_id id, row& r, uint32_t leg,
                 core::time_point now);
  /// Begins a stage; ends a row that died in it too often before.
  void enter(core::request_id id, row& r, size_t stage, core::time_point now);
  /// The legs so far are over: continues with the next one, or with the answer.
  void leg_over(core::request_id id, row& r, core::time_point now);
  /// Continues with the stages before the answer, which is the newest image.
  void finish(core::request_id id, row& r, core::time_point now);
  /// Makes a row whose route may answer with its current image expire early
  /// enough for this answer to be in time.
  void expire_in_time(row& r);
  /// Errors: ec::invalid_argument if the pixels of a stage exceed a slot, or
  /// are none; an exception of the stage.
  core::result<void> check_size(const planning::any_stage& stage,
                                const core::typed_body& order) const;

  const scheduler_config& config_;
  const scheduler_ports& ports_;
  const stage_path& path_;
  slots& slots_;
  records& records_;
  requests& requests_;
  forecast& forecast_;
  const questions& questions_;
  suspicions& suspicions_;
  queueing& queueing_;
  routing& routing_;
  asides& asides_;
  endings& ends_;
};

} // namespace atelier::actors
