// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/hub.hpp>
#include <atelier/actors/stages/standard.hpp>
#include <atelier/planning/demand/request_work.hpp>
#include <atelier/planning/walk.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

constexpr ipc::process_life control_life{};

// Counts how the size and steps of a request change the work of each variant.
void count_own_work(const core::request& wanted, const forecast& predicts,
                    size_t variants, records& into) {
  if (!planning::has_own_work(wanted))
    return;
  for (uint32_t i = 0; i < variants; ++i) {
    const core::variant_id v{i};
    into.extra_work(v, predicts.extra_work(v, wanted),
                    predicts.extra_pixels(v, wanted));
  }
}

// Returns the reported facts of a row that ends.
records::ending ending_of(core::request_id id, const row& r,
                          const planning::profile& known) {
  const auto v = r.course.recipe().variant.value;
  const auto& all = known.variants;
  return {id, v < all.size() ? std::string_view{all[v].name} : "",
          r.account.steps_run()};
}

std::shared_ptr<const planning::pipeline> pipeline_of(const hub_config& x) {
  return x.stages ? x.stages : *standard_pipeline();
}

} // namespace

hub::hub(hub_config config, hub_ports ports)
  : config_(std::move(config)),
    ports_(std::move(ports)),
    path_(pipeline_of(config_)),
    slots_(config_.arena, config_.slots, ports_.slots),
    records_(config_.profile->variants.size(), ports_.drawing),
    rules_(config_.policy, config_.initial_plan, path_.stages(), config_.seed),
    requests_(config_.limits),
    clock_(std::max(2 * config_.pace.tick, config_.processes.silence / 10)),
    queues_(config_.pace.ageing),
    hosting_(config_.profile, config_.join),
    forecast_(config_.profile),
    views_(workers_, orders_, queues_, requests_, forecast_),
    shares_(slots_, requests_, orders_, workers_, suspicions_),
    matching_({path_, rules_, requests_, orders_, workers_, queues_,
               suspicions_, hosting_, shares_, forecast_, views_},
              *config_.profile),
    inspection_({rules_, records_, requests_, questions_, suspicions_, orders_,
                 workers_, queues_, slots_, hosting_, forecast_, views_}) {}

// -- entering -----------------------------------------------------------------

void hub::submit(std::shared_ptr<const core::request> what,
                 core::time_point now, core::suspicion held,
                 bool keeps_suspicion) {
  using core::ec;
  records_.arrived();
  count_own_work(*what, forecast_, config_.profile->variants.size(), records_);
  const auto id = what->id;
  if (stopping_)
    return refuse(std::move(what),
                  core::fail(ec::stopping, "the engine is stopping"), {}, now);
  if (requests_.find(id) != nullptr)
    return refuse(
      std::move(what),
      core::fail(ec::internal, "request {} is already known", id.value), {},
      now);
  if (auto why = requests_.too_much(*what))
    return refuse(std::move(what), std::move(*why), retry_after(), now);
  if (what->source && what->source->bytes() != 0)
    if (auto why = slots_.too_few_for_source())
      return refuse(std::move(what), std::move(*why), {}, now);
  auto& r = requests_.accept(std::move(what));
  r.account.begin(r.request->notes);
  r.course.begin(*r.request, *config_.profile, rules_.plan(), rules_.slots());
  suspicions_.accept(id, held, keeps_suspicion);
  records_.accepted(*r.request);
  probe(r.request, now);
  if (!path_.has_unasked_facts() || !ask(id, r, {}, now))
    choose_route(id, r, now);
  settle(now);
}

void hub::begin_leg(core::request_id id, row& r, uint32_t leg,
                    core::time_point now) {
  r.course.begin_leg(leg);
  slots_.begin_leg(r.held);
  next_stage(id, r, path_.first(planning::hook::each_leg), now);
}

void hub::wait(core::request_id id, row& r, core::time_point now,
               queues::end at) {
  requests_.wait(r, now);
  if (r.course.phase() == phase::denoising)
    requests_.count_ahead(r.request->tenant, true);
  count_work(id, r);
  const auto lane = matching_.lane_of(r);
  const auto entry = matching_.entry_of(r);
  // A request that can no longer be in time need not wait until it is late.
  if (r.request->deadline != core::never && !r.course.known().best
      && forecast_.knows_pace(r.course.recipe().variant))
    requests_.set_due(r, r.request->deadline - entry.still_needs);
  if (r.course.phase() == phase::denoising)
    count_waiting(r.course.recipe().variant, lane, true);
  queues_.push(lane, entry, at, {suspicions_.is_held_up(id), is_under_way(r)});
}

void hub::discount_ahead(core::tenant_id whose) {
  requests_.count_ahead(whose, false);
  // Another row may be prepared now, before a trial of a suspect begins.
  if (queues_.empty(pool_suspects_lane))
    return;
  queues_.feed(recall_lane);
  queues_.feed(prepare_lane);
}

void hub::leave_lane(core::request_id id, row& r, core::time_point now) {
  const auto at = queues_.where(id);
  if (at && r.course.phase() == phase::denoising) {
    count_waiting(r.course.recipe().variant, *at, false);
    discount_ahead(r.request->tenant);
  }
  queues_.remove(id);
  r.account.waited(now - r.waiting_since());
  records_.waited(id, r.course.phase(), r.waiting_since(), now);
  if (!suspicions_.is_alone(id))
    return;
  // A worker may be draining for this row only.
  for (const auto& [who, w] : workers_.all())
    if (w.trial.draining())
      for (const auto lane : w.host.lanes())
        queues_.touch(alone_lane(lane));
}

void hub::finish(core::request_id id, row& r, core::time_point now) {
  r.course.finish();
  slots_.drop_source(r.held);
  slots_.drop_found(r.held);
  next_stage(id, r, path_.first(planning::hook::before_answer), now);
}

void hub::advance(core::request_id id, row& r, core::time_point now) {
  const auto next = r.course.next();
  if (const auto* run = std::get_if<planning::run_leg>(&next)) {
    expire_in_time(r);
    return begin_leg(id, r, run->leg, now);
  }
  if (const auto* with = std::get_if<planning::answer_with>(&next)) {
    ATELIER_EXPECTS(with->done == r.course.known().best,
                    "the answer is the newest image");
    return finish(id, r, now);
  }
  end_row(id, r, row_state::failed,
          core::fail(std::get<planning::give_up>(next).why,
                     "no stage of route {} produced an image",
                     r.course.route().name),
          now);
}

// -- ending -------------------------------------------------------------------

void hub::refuse(std::shared_ptr<const core::request> what, core::error why,
                 core::timespan retry_after, core::time_point now) {
  records_.refused(*what, why, now);
  answer a;
  a.request = std::move(what);
  a.failure = std::move(why);
  a.retry_after = retry_after;
  ports_.clients->answered(std::move(a));
}

void hub::turn_away(core::request_id id, row& r, core::error why,
                    core::timespan retry_after, core::time_point now) {
  close(r, row_state::failed);
  records_.turned_away(ending_of(id, r, *config_.profile), why, now);
  auto what = r.request;
  requests_.forget(id);
  refuse(std::move(what), std::move(why), retry_after, now);
}

void hub::close(row& r, row_state as) {
  forecast_.uncount(r.request->id);
  questions_.forget(r.request->id);
  suspicions_.forget(r.request->id);
  requests_.end(r, as);
  if (requests_.open() == 0)
    records_.rest();
}

void hub::leave_worker(core::request_id id, row& r) {
  const auto* x = orders_.find({id, r.attempt()});
  if (x == nullptr)
    return;
  if (const auto* w = workers_.find(x->worker))
    tell(*w, cancel_work{{id, r.attempt()}});
}

void hub::end_row(core::request_id id, row& r, row_state as, core::error why,
                  core::time_point now) {
  if (r.state() == row_state::waiting)
    leave_lane(id, r, now);
  const bool running = r.state() == row_state::running;
  close(r, as);
  if (running)
    leave_worker(id, r);
  if (as == row_state::cancelled)
    records_.cancelled(ending_of(id, r, *config_.profile), why, now);
  else
    records_.failed(ending_of(id, r, *config_.profile), why, now);
  slots_.end(id);
  answer a;
  a.request = r.request;
  a.failure = std::move(why);
  a.recipe = r.course.recipe();
  if (r.course.has_route())
    a.route = r.course.route().name;
  r.account.close(a, r.request->arrived, now);
  requests_.forget(id);
  ports_.clients->answered(std::move(a));
}

void hub::answer_row(core::request_id id, row& r, core::time_point now) {
  if (!r.held[planning::held::encoded] || !r.course.known().file)
    return end_row(
      id, r, row_state::failed,
      core::fail(core::ec::internal, "no stage encoded the answer's image"),
      now);
  records_.encoded(now);
  close(r, row_state::answered);
  records_.answered(ending_of(id, r, *config_.profile), now);
  forecast_.answered(now);
  remember(id, r, now);
  slots_.answer(id, r.held);
  const auto& v = config_.profile->variants[r.course.recipe().variant.value];
  answer a;
  a.request = r.request;
  a.image = r.held[planning::held::encoded];
  a.bytes = r.course.known().file->bytes;
  a.sha256 = r.course.known().file->sha256;
  if (r.course.known().tolerated && !r.course.known().tolerated->empty())
    a.tolerated = r.course.known().tolerated;
  a.recipe = r.course.recipe();
  a.model = v.model;
  a.variant = v.name;
  a.route = r.course.route().name;
  r.account.close_with_image(a, r.request->arrived, now);
  ports_.clients->answered(std::move(a));
}

void hub::taken(core::request_id id, core::time_point now) {
  const auto* r = requests_.find(id);
  if (r == nullptr || r->state() != row_state::answered)
    return;
  slots_.taken(id, r->held);
  requests_.forget(id);
  settle(now);
}

void hub::cancel(core::request_id id, core::time_point now) {
  auto* r = requests_.find(id);
  if (r == nullptr || is_terminal(r->state()))
    return;
  end_row(id, *r, row_state::cancelled,
          core::fail(core::ec::cancelled, "the request was cancelled"), now);
  settle(now);
}

void hub::expire(core::request_id id, row& r, core::time_point now) {
  const auto next =
    r.state() == row_state::asking
      ? planning::action{planning::give_up{core::ec::deadline_missed}}
      : r.course.late();
  if (!std::holds_alternative<planning::answer_with>(next))
    return end_row(id, r, row_state::failed,
                   core::fail(core::ec::deadline_missed,
                              "the deadline passed, or can no longer be met, "
                              "{:.1f} ms after arrival",
                              core::to_ms(now - r.request->arrived)),
                   now);
  // An image exists already: only its encoding is left, late or not.
  requests_.set_due(r, core::never);
  if (r.course.answering())
    return;
  if (r.state() == row_state::waiting)
    leave_lane(id, r, now);
  else
    leave_worker(id, r);
  finish(id, r, now);
}

void hub::stop(core::time_point now) {
  stopping_ = true;
  std::vector<core::request_id> ids;
  for (const auto& [id, r] : requests_.all())
    if (!is_terminal(r.state()))
      ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const auto id : ids) {
    auto& r = requests_.at(id);
    // An unfinished trial does not count.
    if (const auto x = suspicions_.take_trial_back(id, place_of(r)))
      ports_.clients->suspected(id, *x, false);
    end_row(id, r, row_state::failed,
            core::fail(core::ec::stopping, "the engine is stopping"), now);
  }
  settle(now);
}

// -- time ---------------------------------------------------------------------

void hub::tick(core::time_point now) {
  while (const auto id = requests_.due(now))
    expire(*id, requests_.at(*id), now);
  while (const auto id = questions_.late(now))
    questions_over(*id, requests_.at(*id), now);
  ask_about_orders(now);
  const auto ran = running(now);
  for (auto& [id, w] : workers_.all()) {
    if (w.seat.taken() == 0 || w.address.process == control_life)
      continue;
    if (const auto silent = w.signs.unexplained(ran)) {
      w.signs.report();
      ports_.watch->suspect(w.address.process,
                            fmt::format("{} {} did not respond for {:.1f} s",
                                        to_string(w.address.role),
                                        w.address.index,
                                        core::to_seconds(*silent)));
    }
  }
  requests_.set_time(now);
  if (requests_.forget_departed())
    for (auto& [id, w] : workers_.all())
      if (w.on_device())
        offer(w);
  retry_loads(now);
  settle(now);
}

core::time_point hub::running(core::time_point now) {
  return clock_.look(now);
}

bool hub::wants_tick() const {
  return requests_.timed() || questions_.any() || !orders_.empty()
      || hosting_.waits();
}

void hub::publish(std::shared_ptr<const planning::plan> what,
                  core::time_point now) {
  if (!rules_.follow(std::move(what), path_.stages(), now))
    return;
  const auto& plan = *rules_.plan();
  forecast_.follow(plan, cluster());
  bool changed = false;
  for (const auto& x : plan.workers) {
    auto* w = workers_.find(x.worker);
    if (w == nullptr)
      continue;
    const auto before = w->host.hosting();
    const auto becoming = w->host.becoming();
    apply(x, *w, now);
    const auto& after = w->host.hosting();
    changed = changed || (!after.empty() && after != before)
           || (plan.grouped && w->host.becoming() != becoming);
  }
  // Loading workers are reported when they have loaded, except where the next
  // plan depends on the loads under way.
  if (changed)
    ports_.watch->cluster_changed(cluster());
  settle(now);
}

void hub::settle(core::time_point now) {
  requests_.set_time(now);
  for (;;) {
    queues_.feed();
    look_anew();
    while (const auto lane = queues_.next())
      pump_lane(*lane, now);
    tell_waiting();
    end_filling();
    if (unsent_.empty())
      return;
    end_unsent(now);
  }
}

// -- inspection ---------------------------------------------------------------

const planning::cluster_view& hub::cluster() const {
  return views_.cluster();
}

scheduler_status hub::status() const {
  return inspection_.status(*config_.profile);
}

recovery_counts hub::recovery(core::time_point now) const {
  return records_.recovery(now);
}

const counters& hub::counts() const {
  return records_.counts();
}

const ipc::keeper& hub::slots() const {
  return slots_.keeper();
}

size_t hub::rows() const {
  return requests_.all().size();
}

std::optional<size_t> hub::stage_of(core::request_id id) const {
  const auto* r = requests_.find(id);
  if (r == nullptr || r->state() == row_state::asking)
    return std::nullopt;
  return r->course.stage();
}

std::string hub::check() const {
  return inspection_.check();
}

} // namespace atelier::actors
