// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/course.hpp>
#include <atelier/planning/reuse/scaled_table.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

using planning::held;
using planning::origin;

namespace {

// Returns the most stored steps that do not exceed those to be left out.
uint32_t usable_steps(const planning::match& from, uint32_t skip) {
  uint32_t out = 0;
  for (const auto k : from.stored)
    if (k <= skip)
      out = std::max(out, k);
  return out;
}

} // namespace

void course::begin(const core::request& wanted, const planning::profile& costs,
                   std::shared_ptr<const planning::plan> plan,
                   std::shared_ptr<const planning::route_slots> slots) {
  wanted_ = &wanted;
  costs_ = &costs;
  plan_ = std::move(plan);
  route_slots_ = std::move(slots);
}

// -- what is known ------------------------------------------------------------

void course::learn(planning::facts found) {
  known_.learn(std::move(found));
}

void course::assume(const planning::need& asked) {
  if (asked.tolerated && !known_.tolerated)
    known_.tolerated.emplace();
  if (asked.hit_likely && !known_.hit_likely)
    known_.hit_likely = true;
  if (asked.near && !known_.near)
    known_.near.emplace();
  if (asked.mask && !known_.mask)
    known_.mask.emplace();
  known_.own.note_tried(asked.of);
}

const planning::match* course::match() const {
  if (!known_.near || known_.near->empty())
    return nullptr;
  const auto& near = *known_.near;
  return &near[std::min<size_t>(match_.value_or(0), near.size() - 1)];
}

void course::lose_match() {
  if (const auto* earlier = match())
    known_.near->erase(known_.near->begin() + (earlier - known_.near->data()));
  match_.reset();
}

// -- choosing a route ---------------------------------------------------------

void course::choose(core::route_id along, std::optional<uint32_t> match,
                    const std::shared_ptr<const planning::plan>& plan,
                    const std::shared_ptr<const planning::route_slots>& slots) {
  if (plan_ != plan) {
    plan_ = plan;
    route_slots_ = slots;
  }
  route_ = along;
  match_ = match;
}

void course::take_found() {
  recipe_ = planning::recipe_of(*wanted_, {}, costs_->reuse->full, *costs_);
  leg_ = 0;
}

bool course::take_mask() {
  if (!known_.mask || !wanted_->source)
    return false;
  masked_ = known_.mask->ratio;
  return true;
}

void course::leave_route() {
  lose_match();
  recipe_.from_image = wanted_->source != nullptr;
}

// -- legs ---------------------------------------------------------------------

void course::begin_leg(uint32_t leg) {
  bound_.reset();
  begin_leg_by(leg, route().legs[leg].any_of.front());
}

void course::prepare_for(core::variant_id variant) {
  bound_ = variant;
  begin_leg_by(leg_, variant);
}

void course::begin_leg_by(uint32_t leg, core::variant_id variant) {
  leg_ = leg;
  recipe_ = planning::recipe_of(*wanted_, route().legs[leg], variant, *costs_);
  saved_ = saved_by(recipe_.variant, 0, false);
}

void course::has_state(uint32_t steps) {
  // The steps that earlier work replaces are expected until a device takes it.
  saved_ = std::max(saved_, steps);
}

void course::has_source() {
  if (!starts_from_found())
    return;
  // Its run is shorter, and leaves out only that part.
  recipe_ = planning::refining(recipe_, route().legs[leg_]);
  saved_ = 0;
}

void course::run_by(core::variant_id variant, bool has_source) {
  if (variant == recipe_.variant)
    return;
  const auto& runs = route().legs[leg_];
  recipe_ = planning::recipe_of(*wanted_, runs, variant, *costs_);
  if (has_source && starts_from_found())
    recipe_ = planning::refining(recipe_, runs);
}

void course::starts_with(uint32_t steps) {
  saved_ = steps;
}

void course::take_seed_of_match() {
  recipe_.seed = match()->seed;
}

void course::end_leg(core::ec failure, double score) {
  planning::outcome ended;
  ended.leg = leg_;
  ended.variant = recipe_.variant;
  ended.failure = failure;
  ended.score = score;
  if (failure == core::ec::none) {
    known_.best = static_cast<uint32_t>(known_.done.size());
    drawn_ = recipe_;
  }
  known_.done.push_back(ended);
}

void course::found_image() {
  planning::outcome found;
  found.variant = recipe_.variant;
  known_.best = 0;
  known_.done.push_back(found);
  drawn_ = recipe_;
}

void course::finish() {
  recipe_ = drawn_;
  answering_ = true;
}

planning::action course::next() const {
  return planning::walk(route(), known_, *plan_);
}

planning::action course::late() const {
  return planning::walk_late(route(), known_);
}

// -- stages -------------------------------------------------------------------

void course::enter(size_t stage, core::phase at) {
  stage_ = stage;
  phase_ = at;
}

void course::set_order(core::typed_body order) {
  order_ = std::move(order);
}

// -- where it is --------------------------------------------------------------

const planning::leg* course::running_leg() const {
  const auto& legs = route().legs;
  return !answering_ && leg_ < legs.size() ? &legs[leg_] : nullptr;
}

core::extent course::px(const holding& has) const {
  if (const auto own = has.px(); own != core::extent{})
    return own;
  return drawn_by(has).px;
}

const core::recipe& course::drawn_by(const holding& has) const {
  const bool found_for_leg = has.found() && starts_from_found();
  return answering_ || !known_.best || found_for_leg ? recipe_ : drawn_;
}

const planning::stage_slots& course::stage_slots() const {
  return route_slots_->at(route_,
                          {answering_ ? route().legs.size() : leg_, stage_},
                          wanted_->source != nullptr);
}

const planning::slot_counts& course::least_slots() const {
  return route_slots_->least(route_, wanted_->source != nullptr);
}

// -- its leg ------------------------------------------------------------------

bool course::starts_from_found() const {
  const auto* runs = running_leg();
  return !wanted_->source && runs != nullptr && runs->from == origin::image;
}

double course::masked_as_it_runs() const {
  const auto& runs = route().legs[leg_];
  return runs.from == origin::template_image && !runs.record ? masked_ : 1;
}

uint32_t course::saved_by(core::variant_id variant, uint32_t level,
                          bool has_source) const {
  const auto& runs = route().legs[leg_];
  const auto steps = costs_->variants[variant.value].steps;
  const uint32_t skip = runs.level_of_worker ? level : runs.skip;
  if (skip == 0 || steps == 0)
    return 0;
  switch (runs.from) {
    case origin::noise:
    case origin::template_image:
      if (!runs.level_of_worker)
        return 0;
      [[fallthrough]];
    case origin::latent: {
      const auto* from = match();
      return from == nullptr ? 0
                             : std::min(usable_steps(*from, skip), steps - 1);
    }
    case origin::stage_image:
      // The image is in the request's source, and its run is shorter.
      return 0;
    case origin::image:
      if (has_source)
        return 0;
      break;
  }
  return planning::scaled_skip(skip, runs.skip_of > 0 ? runs.skip_of : steps,
                               steps);
}

uint32_t course::steps_left(uint32_t done) const {
  const auto all = core::steps_to_run(recipe_);
  return all - std::min(std::max(done, saved_), all);
}

core::variant_id course::variant_on(std::span<const core::variant_id> hosting,
                                    uint32_t done) const {
  // It continues with the variant by which its steps were run.
  if (bound_ || done > saved_)
    return recipe_.variant;
  // The worker may host another of the variants that the leg allows.
  for (const auto v : route().legs[leg_].any_of)
    if (std::find(hosting.begin(), hosting.end(), v) != hosting.end())
      return v;
  return recipe_.variant;
}

bool course::is_prepared_for(core::variant_id variant) const {
  if (variant == recipe_.variant)
    return true;
  const auto& all = costs_->variants;
  const auto latent_on = [&](core::variant_id v, core::extent px) {
    return planning::latent_of(all[v.value], px);
  };
  const auto px = planning::drawn_px(all[variant.value], *wanted_);
  return px == recipe_.px
      && latent_on(variant, px) == latent_on(recipe_.variant, px);
}

// -- views --------------------------------------------------------------------

planning::row_view course::view_without_route(
  const holding& has, std::span<const core::note> notes,
  const planning::need& asked) const {
  planning::row_view v{*wanted_, known_, *costs_};
  v.asked = asked;
  v.notes = notes;
  v.holds[static_cast<size_t>(held::files)] = wanted_->source != nullptr;
  v.holds[static_cast<size_t>(held::capture)] = !has.captures().empty();
  return v;
}

planning::row_view course::view(const holding& has,
                                std::span<const core::note> notes) const {
  auto v = view_without_route(has, notes, {});
  if (!has_route())
    return v;
  v.route = &route();
  v.leg = running_leg();
  v.recipe = &recipe_;
  for (const auto name :
       {held::source, held::state, held::pixels, held::encoded})
    v.holds[static_cast<size_t>(name)] = static_cast<bool>(has[name]);
  const auto& legs = v.route->legs;
  const auto from = v.leg != nullptr ? v.leg->from
                  : legs.empty()     ? v.route->from
                                     : legs.front().from;
  // The level of its worker may skip steps of a route from noise.
  const bool by_level =
    !legs.empty() && legs.front().level_of_worker && saved_ > 0;
  if (const auto* earlier = match();
      (from == origin::latent || from == origin::image || by_level)
      && earlier != nullptr) {
    v.from = earlier;
    v.skip = saved_;
  }
  if (has[held::pixels]) {
    v.drawn = &drawn_by(has);
    v.px = px(has);
  }
  return v;
}

std::optional<reused_work> course::reuse(bool has_source) const {
  const auto* from = match();
  if (from == nullptr)
    return std::nullopt;
  reused_work x;
  const auto& legs = route().legs;
  if (legs.empty()) {
    x.from = origin::image;
    x.steps = recipe_.steps;
  } else if (legs.front().from == origin::image) {
    if (!has_source || !starts_from_found())
      return std::nullopt;
    x.from = origin::image;
    x.steps = recipe_.steps - core::steps_to_run(recipe_);
  } else if (saved_ > 0) {
    x.steps = saved_;
  } else {
    return std::nullopt;
  }
  x.entry = from->entry;
  x.similarity = from->similarity;
  return x;
}

bool course::is_made_by_its_seed() const {
  const auto* from = match();
  const auto& legs = route().legs;
  if (from == nullptr || !from->seeded || from->depth != 0 || legs.size() > 1
      || !costs_->reuse || recipe_.variant != costs_->reuse->full)
    return false;
  return legs.empty() || legs.front().from != origin::image;
}

std::optional<uint32_t> course::skips() const {
  const auto& along = route();
  const auto* first = along.legs.empty() ? nullptr : &along.legs.front();
  const auto from = first != nullptr ? first->from : along.from;
  if (from != origin::latent && from != origin::image)
    return std::nullopt;
  // What a level saves is known when its worker takes the request.
  if (first != nullptr && first->level_of_worker)
    return std::nullopt;
  // An image that is the answer saves all steps.
  const auto all = first != nullptr ? first->skip : recipe_.steps;
  const auto* earlier = match();
  return earlier != nullptr && from == origin::latent
         ? usable_steps(*earlier, all)
         : all;
}

} // namespace atelier::actors
