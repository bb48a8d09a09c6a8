// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/ports.hpp>
#include <atelier/actors/scheduler/holding.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/core/typed_body.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/route.hpp>
#include <atelier/planning/route_slots.hpp>
#include <atelier/planning/stage.hpp>
#include <atelier/planning/walk.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>

namespace atelier::actors {

/// The course of a request: what is known of it, the route that was chosen, and
/// the leg and stage where it is. It has no clock, no slot and no worker.
///
/// Invariant: `drawn` describes the newest image if `known().best` is set.
/// Threads: one at a time.
class course {
public:
  /// Begins the course of a request, under the plan in force.
  /// @pre the request and the profile outlive the course
  void begin(const core::request& wanted, const planning::profile& costs,
             std::shared_ptr<const planning::plan> plan,
             std::shared_ptr<const planning::route_slots> slots);

  // -- what is known ----------------------------------------------------------

  const planning::facts& known() const {
    return known_;
  }

  void learn(planning::facts found);

  /// Fills in facts that no stage could find: nothing is tolerated and nothing
  /// is near. But a search is likely to hit: a predictor may save a search, but
  /// never prevent a hit.
  void assume(const planning::need& asked);

  /// Returns the earlier work that the request starts from, or would: the one
  /// that its policy chose, otherwise the nearest. Null if nothing similar was
  /// found.
  const planning::match* match() const;

  /// Forgets that earlier work: its data cannot be fetched.
  void lose_match();

  // -- choosing a route -------------------------------------------------------

  /// Takes a route of the plan in force.
  void choose(core::route_id along, std::optional<uint32_t> match,
              const std::shared_ptr<const planning::plan>& plan,
              const std::shared_ptr<const planning::route_slots>& slots);

  /// The route has no legs: the image that was found is the answer. Its recipe
  /// is that of kept work, which is drawn from scratch.
  /// @pre the profile has a section for reuse
  void take_found();

  /// Takes the masked share of an edit from the facts. Returns whether it is
  /// known.
  bool take_mask();

  /// The route chosen before cannot be followed.
  void leave_route();

  // -- legs -------------------------------------------------------------------

  /// Begins a leg with the first of its variants.
  void begin_leg(uint32_t leg);

  /// Begins the leg anew for a variant that its preparation does not fit; no
  /// other runs it, so that it is not prepared for one worker after another.
  void prepare_for(core::variant_id variant);

  /// A stage wrote a state with so many steps, or a source.
  void has_state(uint32_t steps);
  void has_source();

  /// A device takes the leg: it runs by this variant, from the source if it has
  /// one.
  void run_by(core::variant_id variant, bool has_source);

  /// The leg begins with a state of so many steps.
  void starts_with(uint32_t steps);

  /// The image is the one that the seed of the earlier work makes.
  void take_seed_of_match();

  /// The leg ended, with an image or with the reason for none.
  /// @param score the judge's, if the leg has a gate
  void end_leg(core::ec failure, double score = 0);

  /// The image that was found is the newest image.
  void found_image();

  /// Its legs are over: only stages before the answer are left.
  void finish();

  /// Returns what follows the legs so far, and what does if the deadline
  /// passes.
  planning::action next() const;
  planning::action late() const;

  // -- stages -----------------------------------------------------------------

  /// A stage comes next, or runs.
  void enter(size_t stage, core::phase at);

  /// Sets the order of a pool's worker for this stage.
  void set_order(core::typed_body order);

  // -- where it is ------------------------------------------------------------

  const planning::plan& plan() const {
    return *plan_;
  }

  /// Whether a route is chosen.
  bool has_route() const {
    return route_.value < plan_->routes.size();
  }

  /// @pre a route is chosen
  const planning::route& route() const {
    return plan_->routes[route_.value];
  }

  bool answering() const {
    return answering_;
  }

  uint32_t leg() const {
    return leg_;
  }

  /// Returns the leg that runs or comes next; null if the route has none, or
  /// only the answer is left.
  const planning::leg* running_leg() const;

  size_t stage() const {
    return stage_;
  }

  core::phase phase() const {
    return phase_;
  }

  const core::typed_body& order() const {
    return order_;
  }

  const core::recipe& recipe() const {
    return recipe_;
  }

  /// Returns the size of its pixels: that in which they were drawn, unless a
  /// stage changed it.
  core::extent px(const holding& has) const;

  /// Returns the slots that its stage takes, and that must stay free then.
  const planning::stage_slots& stage_slots() const;

  /// Returns the least slots of its route.
  const planning::slot_counts& least_slots() const;

  // -- its leg ----------------------------------------------------------------

  bool starts_from_found() const;

  /// Returns the masked share with which the leg runs: 1 if the whole image is
  /// computed.
  double masked_as_it_runs() const;

  double masked() const {
    return masked_;
  }

  /// Returns the steps that earlier work saves this leg: expected until a
  /// device takes it, then the number that its state began with.
  uint32_t saved() const {
    return saved_;
  }

  /// Returns the steps that earlier work saves it if it runs by a variant, at a
  /// worker of this level.
  uint32_t saved_by(core::variant_id variant, uint32_t level,
                    bool has_source) const;

  /// Returns the steps that are left of a state with `done` steps.
  uint32_t steps_left(uint32_t done) const;

  /// Whether only one variant may run the leg.
  bool is_bound() const {
    return bound_.has_value();
  }

  /// Returns the variant by which a worker that hosts these would run the leg,
  /// from a state with `done` steps.
  core::variant_id variant_on(std::span<const core::variant_id> hosting,
                              uint32_t done) const;

  /// Whether its state and source, as they are, can be run by a variant.
  bool is_prepared_for(core::variant_id variant) const;

  // -- views ------------------------------------------------------------------

  /// Returns what a stage sees. The view refers to this course.
  planning::row_view view(const holding& has,
                          std::span<const core::note> notes) const;

  /// Returns what a stage sees that looks for facts before the route.
  planning::row_view view_without_route(const holding& has,
                                        std::span<const core::note> notes,
                                        const planning::need& asked) const;

  /// Returns the earlier work that the first leg starts from, or that is the
  /// answer; nothing if it starts from noise.
  std::optional<reused_work> reuse(bool has_source) const;

  /// Whether the image of a request that starts from earlier work is the one
  /// that the entry's seed makes from noise: the rest of the very run that left
  /// the entry, or the image of that run.
  bool is_made_by_its_seed() const;

  /// Returns the steps that its route leaves out by earlier work, as far as
  /// that is known when it is chosen; nothing if it starts from noise, or if
  /// the worker decides.
  std::optional<uint32_t> skips() const;

private:
  void begin_leg_by(uint32_t leg, core::variant_id variant);

  // Returns the recipe by which its pixels were drawn.
  const core::recipe& drawn_by(const holding& has) const;

  const core::request* wanted_ = nullptr;
  const planning::profile* costs_ = nullptr;
  /// The plan under which the route was chosen, and the slots of its routes.
  std::shared_ptr<const planning::plan> plan_;
  std::shared_ptr<const planning::route_slots> route_slots_;
  /// No plan has so many routes: none is chosen.
  core::route_id route_{std::numeric_limits<uint32_t>::max()};
  planning::facts known_;
  /// The index into known_.near of the match from which its first leg starts.
  std::optional<uint32_t> match_;
  /// The masked share of an edit; 1 for other requests.
  double masked_ = 1;
  uint32_t leg_ = 0;
  uint32_t saved_ = 0;
  core::recipe recipe_;
  std::optional<core::variant_id> bound_;
  core::recipe drawn_;
  bool answering_ = false;
  size_t stage_ = 0;
  core::phase phase_ = core::phase::preparing;
  core::typed_body order_;
};

} // namespace atelier::actors
