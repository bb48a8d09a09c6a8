// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/hosting.hpp>
#include <atelier/actors/scheduler/matching.hpp>
#include <atelier/actors/scheduler/queue_ids.hpp>
#include <atelier/actors/seat_shares.hpp>
#include <atelier/planning/grouping.hpp>
#include <atelier/planning/hosting_rules.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

namespace atelier::actors {

namespace {

/// Number of workers that are compared for one row.
constexpr size_t most_compared = 16;

/// Rows that join within this share of their time end together.
constexpr double fresh_share = 0.05;

// Whether a pool's worker takes rows that are prepared ahead of the devices.
bool works_ahead(const worker& w) {
  return w.address.role == role::preprocess || w.address.role == role::recall
      || w.address.role == role::device_stage;
}

} // namespace

work_left rest_of(const row& r) {
  return {*r.request, r.course.recipe(), r.course.phase(), steps_left(r)};
}

matching::matching(parts of, const planning::profile& known)
  : of_(of), known_(known), weights_(planning::weights_of(known)) {}

// -- a row --------------------------------------------------------------------

core::queue_id matching::queue_of(const row& r) const {
  const bool alone = of_.suspicions.is_alone(r.request->id);
  switch (of_.path.worker_of(r.course.stage())) {
    case role::preprocess:
      return alone ? pool_suspects_queue : prepare_queue;
    case role::postprocess:
      return alone ? pool_suspects_queue : finish_queue;
    case role::recall:
      // It runs in the control process, which no request's work can end alone.
      return recall_queue;
    case role::device_stage:
      return alone ? pool_suspects_queue : device_stage_queue;
    case role::classifier:
    case role::denoise_step:
      break;
  }
  if (r.course.is_bound()) {
    const auto queue = planning::queue_of(r.course.recipe().variant);
    return alone ? alone_queue(queue) : queue;
  }
  auto random = of_.rules.random(r.request->id);
  random.seek((uint64_t{r.moves()} + 1) << 16);
  const auto queue = of_.rules.policy().place(
    *r.course.running_leg(),
    {*r.request, r.course.known(), *of_.forecast.profile(), *of_.rules.plan(),
     of_.views.cluster(), random});
  return alone ? alone_queue(queue) : queue;
}

planning::waiting matching::entry_of(const row& r) const {
  planning::waiting x;
  x.request = r.request->id;
  x.tenant = r.request->tenant;
  x.share = r.request->share;
  x.prio = r.request->prio;
  x.since = r.waiting_since();
  x.deadline = r.request->deadline;
  x.still_needs = of_.forecast.least(rest_of(r));
  x.may_answer_best = r.course.known().best.has_value();
  return x;
}

// -- a row for a worker -------------------------------------------------------

std::vector<core::tenant_id> matching::closed_to(const worker& w,
                                                 core::queue_id queue) const {
  if (w.on_device())
    return leave_seats(w, of_.workers, of_.orders, of_.requests.tenants());
  if (queue == prepare_queue)
    return of_.requests.far_ahead(of_.workers.device_seats());
  return {};
}

std::vector<core::tenant_id> matching::closed_to_crowd(
  const worker& w, std::vector<core::tenant_id> closed) const {
  const auto with_some =
    w.on_device() ? tenants_at(w, of_.orders) : of_.requests.with_ahead();
  closed.insert(closed.end(), with_some.begin(), with_some.end());
  std::sort(closed.begin(), closed.end());
  closed.erase(std::unique(closed.begin(), closed.end()), closed.end());
  return closed;
}

bool matching::is_bounded(const worker& w) {
  return works_ahead(w);
}

std::vector<planning::waiting> matching::next_rows(
  std::span<const core::queue_id> from, const worker& w,
  std::span<const core::tenant_id> without, core::time_point now) const {
  const bool device = w.on_device();
  const bool counted = works_ahead(w);
  // Among the first few, one may belong to a tenant for which slots are left,
  // or need fewer slots than a source for which too few are free.
  const bool shared = of_.requests.named_ahead() || of_.shares.awaits_images();
  const size_t most = device ? w.max_batch() : shared ? looked_at : 1;
  auto queue = of_.queues.best(from, now, most, without);
  std::erase_if(queue, [&](const planning::waiting& x) {
    if (counted
        && of_.requests.at(x.request).course.phase() == core::phase::preparing)
      return of_.requests.far_ahead(x.tenant, of_.workers.device_seats());
    return device && waits_for_quicker(x, w, now);
  });
  // The worker is known now, and so is how long the work would take there.
  if (device && w.host.join() == planning::joining::step)
    for (auto& x : queue)
      if (const auto& r = of_.requests.at(x.request);
          x.deadline != core::never
          && of_.forecast.knows_pace(r.course.recipe().variant))
        x.still_needs =
          std::max(x.still_needs, of_.forecast.at(rest_of(r), w.view()));
  return queue;
}

bool matching::any_under_way(
  std::span<const core::queue_id> served, const worker& w,
  const std::function<bool(core::request_id)>& dispatch) const {
  const auto& counts = of_.queues.under_way();
  if (std::none_of(served.begin(), served.end(),
                   [&](auto queue) { return counts.count(queue) != 0; }))
    return false;
  bool in_turn = false;
  of_.orders.each([&](core::ticket, const dispatched& x) {
    in_turn = in_turn || (w.on_device() && !x.side);
  });
  for (const auto queue : served)
    if (counts.count(queue) != 0)
      for (const auto id : of_.queues.of(queue))
        if (const auto& r = of_.requests.at(id);
            (in_turn ? r.course.leg() > 0 : is_under_way(r)) && dispatch(id))
          return true;
  return false;
}

bool matching::waits_for_quicker(const planning::waiting& x, const worker& w,
                                 core::time_point now) const {
  if (!of_.forecast.several_kinds() || x.deadline == core::never
      || planning::worker_of(x.queue))
    return false;
  const auto& r = of_.requests.at(x.request);
  const auto left = rest_of(r);
  return of_.forecast.knows_pace(r.course.recipe().variant)
      && core::after(now, of_.forecast.least_on(left, w.kind())) > x.deadline
      && core::after(now, of_.forecast.least(left)) <= x.deadline;
}

// -- a worker for a row -------------------------------------------------------

std::optional<core::worker_id> matching::choose_worker(
  core::queue_id queue, core::time_point now,
  std::span<const core::worker_id> passed) const {
  const auto& offers = of_.queues.offered(queue);
  const auto is_passed = [&](const auto& offer) {
    return std::find(passed.begin(), passed.end(), offer.worker)
        != passed.end();
  };
  auto next_offer = std::find_if_not(offers.begin(), offers.end(), is_passed);
  if (next_offer == offers.end())
    return std::nullopt;
  const auto* best = &of_.workers.at(next_offer->worker);
  // The least loaded worker is the soonest if its batch has a free place and
  // all devices are of one kind.
  const bool alike = !of_.forecast.several_kinds();
  if (offers.size() == 1 || !best->on_device()
      || (alike && best->seat.taken() < best->max_batch()))
    return best->id();
  const core::queue_id served[] = {queue};
  const auto next = of_.queues.best(served, now, 1);
  const auto left = rest_of(of_.requests.at(next.front().request));
  auto soonest = of_.forecast.at(left, best->view());
  for (size_t compared = 0;
       next_offer != offers.end() && compared < most_compared; ++next_offer) {
    if (is_passed(*next_offer))
      continue;
    ++compared;
    const auto& w = of_.workers.at(next_offer->worker);
    if (const auto at = of_.forecast.at(left, w.view()); at < soonest) {
      soonest = at;
      best = &w;
    }
  }
  return best->id();
}

std::vector<core::queue_id> matching::queues_beside(core::queue_id queue,
                                                    const worker& w) const {
  std::vector<core::queue_id> out{queue};
  const auto& hosted = w.host.hosting();
  const auto own =
    std::find_if(hosted.begin(), hosted.end(), [&](core::variant_id v) {
      return planning::queue_of(v) == queue;
    });
  // A whole batch has one variant.
  if (own == hosted.end() || w.host.join() != planning::joining::step)
    return out;
  for (const auto v : hosted)
    if (v != *own && weights_of(v) == weights_of(*own))
      out.push_back(planning::queue_of(v));
  return out;
}

std::optional<core::worker_id> matching::seat_in_group(
  core::queue_id queue, core::time_point now) const {
  size_t devices = 0;
  size_t idle = 0;
  for (const auto& [id, w] : of_.workers.all())
    if (w.on_device() && !w.suspected()) {
      ++devices;
      if (w.seat.taken() == 0 && of_.workers.takes_more(w))
        ++idle;
    }
  const core::queue_id own[] = {queue};
  const auto first = of_.queues.best(own, now, 1).front();
  const auto beginning =
    core::from_seconds(fresh_share
                       * core::to_seconds(of_.forecast.least(
                         rest_of(of_.requests.at(first.request)))));
  std::vector<core::worker_id> seats;
  std::vector<planning::seat_offer> offers;
  for (const auto& [taken, id] : of_.queues.offered(queue)) {
    const auto& w = of_.workers.at(id);
    planning::seat_offer x{taken, false};
    if (taken > 0) {
      const auto& has = w.seat.orders();
      const auto beside = queues_beside(queue, w);
      const auto joins = [&](core::queue_id other) {
        return std::find(beside.begin(), beside.end(), other) != beside.end();
      };
      const bool same =
        std::all_of(has.begin(), has.end(), [&](const auto who) {
          return joins(planning::queue_of(of_.orders.at(who).variant));
        });
      const auto next = of_.queues.best(w.host.queues(), now, 1).front();
      if (!same || taken >= w.max_batch()
          || (!joins(next.queue)
              && !planning::may_join_before(first, next, now)))
        continue;
      x.fresh = now - of_.orders.at(has.back()).since <= beginning;
    }
    seats.push_back(id);
    offers.push_back(x);
  }
  const auto chosen = planning::choose_seat(offers, idle, devices);
  return chosen ? std::optional{seats[*chosen]} : std::nullopt;
}

core::timespan matching::silence_of(const row& r, const worker& w) const {
  const auto predicted =
    of_.forecast.silence(rest_of(r), w.view(), w.run_steps);
  if (r.course.phase() == core::phase::denoising)
    return predicted;
  const auto& stage = of_.path.at(r.course.stage());
  return std::max(predicted,
                  planning::longest_time_of(stage, r.course.order(), known_,
                                            r.course.px(r.held)));
}

std::optional<steps_run> matching::run_of(const worker& w,
                                          const stepped& x) const {
  if (x.batch == 0 || x.steps == 0)
    return std::nullopt;
  // All rows of a run are of one shape. They follow those in decoding, which
  // may be of another.
  std::vector<core::variant_id> variants;
  core::variant_id weights;
  core::extent px;
  double rows = 0;
  const auto& reported = w.batch.rows();
  for (auto i = reported.rbegin();
       i != reported.rend() && variants.size() < x.batch; ++i) {
    const auto* r = of_.requests.last(*i);
    if (r == nullptr)
      continue;
    const auto& how = r->course.recipe();
    const auto own = weights_of(how.variant);
    if (variants.empty()) {
      weights = own;
      px = how.px;
    }
    if (own != weights || how.px != px)
      continue;
    variants.push_back(how.variant);
    rows += of_.forecast.rows_of(how);
  }
  if (variants.empty())
    return std::nullopt;
  const bool whole =
    std::all_of(reported.begin(), reported.end(), [&](auto who) {
      const auto* r = of_.requests.find(who.id);
      return r == nullptr || r->course.masked() >= 1;
    });
  // The rows that are no longer known count as the others do.
  rows *= static_cast<double>(x.batch) / static_cast<double>(variants.size());
  return steps_run{w.view(), std::move(variants),
                   weights,  px,
                   x.batch,  x.steps,
                   x.took,   whole,
                   w.slow(), rows};
}

core::variant_id matching::weights_of(core::variant_id v) const {
  return weights_[v.value];
}

// -- variants that devices could not load -------------------------------------

std::optional<core::error> matching::unloadable(core::variant_id v) const {
  if (!of_.hosting.retried_at(v))
    return std::nullopt;
  for (const auto& [id, w] : of_.workers.all())
    if (w.on_device() && !w.suspected()
        && (w.host.hosts(v) || w.host.will_host(v)
            || w.host.serves(planning::queue_of(v))
            || planning::may_host(w.view(), {v}, known_)))
      return std::nullopt;
  return of_.hosting.why_not_loaded(v);
}

std::optional<core::error> matching::unloadable(const planning::leg& x) const {
  std::optional<core::error> first;
  for (const auto v : x.any_of) {
    auto why = unloadable(v);
    if (!why)
      return std::nullopt;
    if (!first)
      first = std::move(why);
  }
  return first;
}

std::optional<core::error> matching::unloadable(
  const planning::route& x) const {
  std::optional<core::error> first;
  for (const auto& leg : x.legs) {
    // Such a leg follows only an image of an earlier one.
    if (leg.from == planning::origin::stage_image)
      continue;
    auto why = unloadable(leg);
    if (!why)
      return std::nullopt;
    if (!first)
      first = std::move(why);
  }
  return first;
}

// -- rows that run alone ------------------------------------------------------

core::request_id matching::next_suspect(core::queue_id queue,
                                        core::time_point now) const {
  const core::queue_id served[] = {queue};
  core::request_id next;
  // A suspect that must wait for slots may wait for those of another; finishing
  // a row frees the slots for which preparing waits.
  std::tuple<bool, bool, uint32_t> least;
  for (const auto& x : of_.queues.best(served, now, of_.queues.size(queue))) {
    const auto& r = of_.requests.at(x.request);
    const std::tuple rank{!has_room_for(r),
                          r.course.phase() == core::phase::preparing,
                          of_.suspicions.strikes(x.request)};
    if (next == core::request_id{} || rank < least) {
      next = x.request;
      least = rank;
    }
  }
  return next;
}

bool matching::has_room_for(const row& r) const {
  if (!of_.shares.has_slots(r))
    return false;
  // Others are prepared first, up to that bound, only for those whom a trial
  // would delay again.
  return r.course.phase() != core::phase::preparing || r.course.leg() > 0
      || of_.queues.held_up().count(prepare_queue) == 0
      || !of_.requests.far_ahead(r.request->tenant, of_.workers.device_seats());
}

matching::trial_choice matching::device_for_trial(core::queue_id queue) const {
  // A trial has the whole device.
  constexpr std::array stages_of_devices{device_stage_queue};
  trial_choice out;
  const worker* chosen = nullptr;
  for (const auto& [id, w] : of_.workers.all()) {
    if (!w.on_device() || w.suspected() || !w.host.takes_rows()
        || !w.host.serves(queue))
      continue;
    if (w.trial.exclusive()) {
      out.busy = true;
      return out;
    }
    const bool draining = w.trial.draining();
    if (of_.queues.delays_again(w.host.queues())
        || of_.queues.delays_again(stages_of_devices))
      out.delays.push_back(id);
    else if (chosen == nullptr || (draining && !chosen->trial.draining())
             || (draining == chosen->trial.draining()
                 && w.seat.taken() < chosen->seat.taken()))
      chosen = &w;
  }
  if (chosen != nullptr)
    out.at = chosen->id();
  return out;
}

matching::trial_choice matching::pool_for_trial(const row& r) const {
  trial_choice out;
  const auto wanted = of_.path.worker_of(r.course.stage());
  const worker* chosen = nullptr;
  for (const auto& [id, w] : of_.workers.all()) {
    if (w.address.role != wanted || w.suspected())
      continue;
    const auto* const other = of_.workers.beside(w);
    if (w.trial.exclusive() || (other != nullptr && other->trial.exclusive())) {
      out.busy = true;
      return out;
    }
    if (chosen == nullptr || (w.trial.draining() && !chosen->trial.draining()))
      chosen = &w;
  }
  if (chosen != nullptr)
    out.at = chosen->id();
  return out;
}

bool matching::waits_for_other(const worker& w) const {
  const auto* const other = of_.workers.beside(w);
  if (other == nullptr)
    return false;
  if (w.on_device())
    return of_.orders.any_stepping(other->seat.orders());
  // It may wait for steps, or for a load on the device's own thread.
  return (other->seat.taken() != 0 || !other->host.takes_rows())
      && !of_.orders.any_stepping(w.seat.orders());
}

std::vector<core::ticket> matching::worked_on(
  std::span<const core::worker_id> gone, death cause) const {
  std::vector<core::ticket> out;
  if (!may_be_of_a_request(cause))
    return out;
  const auto any = [&](bool (signs_of_life::*is)() const) {
    return cause == death::watchdog
        && std::any_of(gone.begin(), gone.end(), [&](auto id) {
             return (of_.workers.at(id).signs.*is)();
           });
  };
  // If one of the workers was silent, the others do not matter. If one only
  // lost orders, no request is to blame.
  const bool named = any(&signs_of_life::reported);
  if (!named && any(&signs_of_life::loses_orders))
    return out;
  for (const auto id : gone) {
    const auto& w = of_.workers.at(id);
    const auto* const other = of_.workers.beside(w);
    if (named && !w.signs.reported()
        && (other == nullptr || !other->signs.reported()))
      continue;
    const auto& has = w.seat.orders();
    // A pool's worker processes its orders one after the other, in order.
    if (!w.waits_for_device()) {
      if (!has.empty())
        out.push_back(has.front());
      continue;
    }
    const auto& device = w.on_device() || other == nullptr ? w : *other;
    if (hosting::blames_load(device, cause))
      continue;
    // The device's thread does one thing at a time.
    if (w.on_device() && other != nullptr
        && of_.orders.any_stepping(other->seat.orders()))
      continue;
    std::copy_if(has.begin(), has.end(), std::back_inserter(out),
                 [&](const auto who) { return of_.orders.at(who).stepping; });
  }
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace atelier::actors
