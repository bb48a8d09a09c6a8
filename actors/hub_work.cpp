// SPDX-License-Identifier: Apache-2.0

// Predictions for rows and devices: admission, deadlines, the worker that
// answers soonest.

#include <atelier/actors/hub.hpp>
#include <atelier/core/log.hpp>
#include <atelier/planning/grouping.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/walk.hpp>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace atelier::actors {

namespace {

/// Number of workers that are compared for one row.
constexpr size_t most_compared = 16;

/// Rows that join within this share of their time end together.
constexpr double fresh_share = 0.05;

} // namespace

void hub::expire_in_time(row& r) {
  if (r.due() == core::never
      || !std::holds_alternative<planning::answer_with>(r.course.late()))
    return;
  requests_.set_due(r, r.request->deadline - config_.answer_margin
                         - 2 * forecast_.finishing());
}

void hub::count_work(core::request_id id, const row& r) {
  if (r.course.phase() == phase::finishing)
    return forecast_.uncount(id);
  cluster();
  forecast_.count(id, r.course.recipe(), steps_left(r), r.request->tenant);
}

std::optional<core::error> hub::no_room_for(const row& r,
                                            core::variant_id variant,
                                            core::timespan& retry_after) const {
  cluster();
  const auto wait =
    forecast_.wait_beyond(variant, config_.limits.queue, r.request->tenant);
  // No request is refused on a guess.
  if (!wait)
    return std::nullopt;
  retry_after =
    std::max(plan_->retry_after,
             planning::come_back_after(*wait - config_.limits.queue, 1));
  return core::fail(core::ec::overloaded,
                    "accepted requests are predicted to take {:.1f} s more, "
                    "the limit (limits.queue_s) is {:.1f}",
                    core::to_seconds(*wait),
                    core::to_seconds(config_.limits.queue));
}

std::optional<core::error> hub::not_admitted(const row& r,
                                             core::timespan& retry_after,
                                             core::time_point now) {
  // Rates that were planned with a guess are a guess.
  if (forecast_.guesses(*plan_, cluster()))
    return std::nullopt;
  const auto of = config_.policy->admission_class(*r.request, r.course.known(),
                                                  *config_.profile, *plan_);
  using claim = planning::admission::claim;
  const auto wait = admission_.admit(of, r.request->prio, now,
                                     requests_.is_below_mean(r.request->tenant)
                                       ? claim::below_share
                                       : claim::usual);
  if (wait == core::timespan{0})
    return std::nullopt;
  retry_after = std::max(plan_->retry_after, wait);
  return core::fail(core::ec::overloaded,
                    "more requests arrive than the plan admits, of priority {} "
                    "the next one in {:.1f} s",
                    core::to_string(r.request->prio), core::to_seconds(wait));
}

core::timespan hub::retry_after() const {
  cluster();
  return forecast_.come_back(config_.limits.requests, plan_->retry_after);
}

work_left hub::rest_of(const row& r) {
  return {*r.request, r.course.recipe(), r.course.phase(), steps_left(r)};
}

bool hub::waits_for_quicker(const planning::waiting& x, const worker& w,
                            core::time_point now) const {
  if (!forecast_.several_kinds() || x.deadline == core::never
      || planning::worker_of(x.lane))
    return false;
  const auto& r = requests_.at(x.request);
  const auto left = rest_of(r);
  return forecast_.knows_pace(r.course.recipe().variant)
      && core::after(now, forecast_.least_on(left, w.kind()))
           > x.deadline
      && core::after(now, forecast_.least(left)) <= x.deadline;
}

worker* hub::choose_worker(core::lane_id lane, core::time_point now,
                           std::span<const core::worker_id> passed) {
  const auto& offers = queues_.offered(lane);
  const auto is_passed = [&](const auto& offer) {
    return std::find(passed.begin(), passed.end(), offer.worker)
        != passed.end();
  };
  auto next_offer = std::find_if_not(offers.begin(), offers.end(), is_passed);
  if (next_offer == offers.end())
    return nullptr;
  auto* best = &workers_.at(next_offer->worker);
  // The least loaded worker is the soonest if its batch has a free place and
  // all devices are of one kind.
  const bool alike = !forecast_.several_kinds();
  if (offers.size() == 1 || best->address.role != role::denoise_step
      || (alike && best->seat.taken() < best->max_batch()))
    return best;
  const core::lane_id served[] = {lane};
  const auto next = queues_.best(served, now, 1);
  const auto& r = requests_.at(next.front().request);
  const auto left = rest_of(r);
  auto soonest = forecast_.at(left, best->view());
  for (size_t compared = 0;
       next_offer != offers.end() && compared < most_compared; ++next_offer) {
    if (is_passed(*next_offer))
      continue;
    ++compared;
    auto& w = workers_.at(next_offer->worker);
    if (const auto at = forecast_.at(left, w.view()); at < soonest) {
      soonest = at;
      best = &w;
    }
  }
  return best;
}

std::vector<core::lane_id> hub::lanes_beside(core::lane_id lane,
                                             const worker& w) const {
  std::vector<core::lane_id> out{lane};
  const auto& hosted = w.host.hosting();
  const auto own =
    std::find_if(hosted.begin(), hosted.end(), [&](core::variant_id v) {
      return planning::lane_of(v) == lane;
    });
  // A whole batch has one variant.
  if (own == hosted.end() || w.host.join() != planning::joining::step)
    return out;
  for (const auto v : hosted)
    if (v != *own && weights_[v.value] == weights_[own->value])
      out.push_back(planning::lane_of(v));
  return out;
}

worker* hub::seat_in_group(core::lane_id lane, core::time_point now) {
  size_t workers = 0;
  size_t idle = 0;
  for (const auto& [id, w] : workers_.all())
    if (w.address.role == role::denoise_step && !w.suspected()) {
      ++workers;
      if (w.seat.taken() == 0 && w.takes_more())
        ++idle;
    }
  const core::lane_id own[] = {lane};
  const auto first = queues_.best(own, now, 1).front();
  const auto beginning = core::from_seconds(
    fresh_share
    * core::to_seconds(forecast_.least(rest_of(requests_.at(first.request)))));
  std::vector<worker*> seats;
  std::vector<planning::seat_offer> offers;
  for (const auto& [taken, id] : queues_.offered(lane)) {
    auto& w = workers_.at(id);
    planning::seat_offer x{taken, false};
    if (taken > 0) {
      const auto& last = orders_.at(w.seat.orders().back());
      const auto beside = lanes_beside(lane, w);
      const auto joins = [&](core::lane_id other) {
        return std::find(beside.begin(), beside.end(), other) != beside.end();
      };
      const bool same =
        std::all_of(w.seat.orders().begin(), w.seat.orders().end(), [&](const auto who) {
          return joins(planning::lane_of(orders_.at(who).variant));
        });
      const auto next = queues_.best(w.host.lanes(), now, 1).front();
      if (!same || taken >= w.max_batch()
          || (!joins(next.lane)
              && !planning::may_join_before(first, next, now)))
        continue;
      x.fresh = now - last.since <= beginning;
    }
    seats.push_back(&w);
    offers.push_back(x);
  }
  const auto chosen = planning::choose_seat(offers, idle, workers);
  return chosen ? seats[*chosen] : nullptr;
}

void hub::note_pace(const worker& w, const stepped& x, core::time_point now) {
  if (x.batch == 0 || x.steps == 0)
    return;
  // All rows of a run are of one shape. They follow those in decoding, which
  // may be of another.
  std::vector<core::variant_id> variants;
  core::variant_id weights;
  core::extent px;
  double rows = 0;
  const auto& reported = w.batch.rows();
  for (auto i = reported.rbegin();
       i != reported.rend() && variants.size() < x.batch; ++i) {
    if (requests_.last(*i) == nullptr)
      continue;
    const auto& how = requests_.at(i->id).course.recipe();
    const auto own = weights_[how.variant.value];
    if (variants.empty()) {
      weights = own;
      px = how.px;
    }
    if (own != weights || how.px != px)
      continue;
    variants.push_back(how.variant);
    rows += forecast_.rows_of(how);
  }
  if (variants.empty())
    return;
  const bool whole = std::all_of(reported.begin(), reported.end(), [&](auto who) {
    const auto* r = requests_.find(who.id);
    return r == nullptr || r->course.masked() >= 1;
  });
  // The rows that are no longer known count as the others do.
  rows *= static_cast<double>(x.batch) / static_cast<double>(variants.size());
  forecast_.ran({w.view(), std::move(variants), weights, px, x.batch, x.steps,
                 x.took, whole, w.slow(), rows},
                now);
}

void hub::tell_slow(core::time_point now) {
  const auto slow = forecast_.slow_news(now);
  if (!slow)
    return;
  for (auto& [id, w] : workers_.all()) {
    const bool is = std::binary_search(slow->begin(), slow->end(), id);
    if (w.slow() == is)
      continue;
    workers_.set_slow(w, is);
    hosting_changed();
    offer(w);
    if (is)
      core::log_warn("device {} takes several times as long as others for the "
                     "same steps: plans leave it out",
                     w.device);
    else
      core::log_info("plans use device {} again", w.device);
  }
  for (const auto id : *slow)
    rehome(id, now);
  ports_.watch->cluster_changed(cluster());
}

void hub::tell_costs() {
  auto news = forecast_.cost_news();
  if (!news)
    return;
  workers_.show(std::move(*news));
  ports_.watch->cluster_changed(cluster());
}

} // namespace atelier::actors
