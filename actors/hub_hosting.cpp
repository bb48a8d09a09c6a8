// SPDX-License-Identifier: Apache-2.0

// Applies a plan, and what follows from changes of hosting: loads, queues
// without a host, variants that devices could not load.

#include <atelier/actors/hub.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace atelier::actors {

namespace {

bool has(const std::vector<core::variant_id>& all, core::variant_id v) {
  return std::find(all.begin(), all.end(), v) != all.end();
}

} // namespace

void hub::follow(const hosting::change& x, worker& w, core::time_point now) {
  if (x.ends_drain)
    w.trial.go_on();
  for (const auto& order : x.orders)
    tell(w, order);
  for (uint32_t i = 0; i < x.loads; ++i)
    records_.loads();
  if (x.loaded)
    forecast_.loaded(x.loaded->first, w.kind(), x.loaded->second);
  if (x.members) {
    workers_.members_changed();
    hosting_.changed();
  }
  if (x.rehome)
    rehome(w.id(), now);
  offer(w);
  if (x.report)
    ports_.watch->cluster_changed(cluster());
}

void hub::apply(const planning::assignment& x, worker& w,
                core::time_point now) {
  std::vector<core::variant_id> running;
  for (const auto who : w.seat.orders())
    if (const auto* r = requests_.last(who))
      running.push_back(r->course.recipe().variant);
  follow(hosting_.apply(w, x, running, now), w, now);
}

void hub::on(const adopted& x, core::time_point now) {
  auto* w = workers_.find(x.worker);
  if (w == nullptr || x.number != w->host.last_order())
    return records_.stale_reply();
  w->signs.heard(running(now));
  const auto changed = hosting_.adopted(*w, x, now);
  if (!changed)
    return;
  follow(*changed, *w, now);
  settle(now);
}

void hub::look_anew() {
  if (!hosting_.seeks_anew())
    return;
  // The other workers that serve the same queues may have changed.
  for (auto& [id, w] : workers_.all())
    if (w.slow())
      offer(w);
  for (uint32_t v = 0; v < config_.profile->variants.size(); ++v)
    for (const auto lane : {core::lane_id{v}, alone_lane(core::lane_id{v})})
      queues_.touch_waiting(lane);
}

void hub::look_for_host(core::lane_id lane) {
  if (planning::worker_of(lane) || !hosting_.seeks(lane))
    return;
  const core::variant_id wanted{lane.value};
  bool any = false;
  for (const auto& [id, w] : workers_.all()) {
    if (!w.on_device() || w.suspected())
      continue;
    any = true;
    if (w.host.will_host(wanted) || w.host.serves(lane))
      return;
  }
  if (any)
    hosting_.missing(wanted);
}

void hub::tell_waiting() {
  auto news = hosting_.tell(queues_.size(), rules_.plan()->grouped);
  if (!news)
    return;
  std::map<core::variant_id, core::time_point> since;
  for (const auto v : news->unhosted)
    for (const auto lane :
         {planning::lane_of(v), alone_lane(planning::lane_of(v))})
      for (const auto id : queues_.of(lane)) {
        const auto at = requests_.at(id).waiting_since();
        const auto [i, fresh] = since.emplace(v, at);
        i->second = std::min(i->second, at);
      }
  std::stable_sort(news->unhosted.begin(), news->unhosted.end(),
                   [&](auto a, auto b) { return since[a] < since[b]; });
  auto there = cluster();
  there.unhosted = std::move(news->unhosted);
  there.waiting = records_.counts().waiting_shared;
  ports_.watch->cluster_changed(std::move(there));
}

void hub::end_filling() {
  for (const auto id : std::exchange(filling_, {}))
    if (auto* there = workers_.find(id)) {
      auto& w = *there;
      auto rows = w.batch.end_filling();
      offer(w);
      for (auto& x : rows) {
        x.more = &x != &rows.back();
        const auto who = x.ticket;
        send(w, who, std::move(x));
      }
    }
}

void hub::rehome(core::worker_id gone, core::time_point now) {
  const auto own = planning::lane_of(gone);
  for (const auto lane : {own, alone_lane(own)})
    for (const auto id : queues_.of(lane)) {
      auto& r = requests_.at(id);
      leave_lane(id, r, now);
      wait(id, r, now, queues::end::back);
    }
}

// -- variants that devices could not load -------------------------------------

void hub::retry_loads(core::time_point now) {
  const auto due = hosting_.retries(now);
  if (due.empty())
    return;
  for (auto& [id, w] : workers_.all()) {
    if (!w.on_device())
      continue;
    hosting::change shown;
    const bool news = hosting_.retry(w, shown);
    follow(shown, w, now);
    if (!news)
      continue;
    // The plan in force may assign the variant to this worker still.
    for (const auto& x : rules_.plan()->workers)
      if (x.worker == id
          && std::any_of(due.begin(), due.end(), [&](const auto& which) {
               return which.first == device_at(w)
                   && has(x.hosting, which.second);
             }))
        apply(x, w, now);
  }
  ports_.watch->cluster_changed(cluster());
}

void hub::on(const wish_hosting& x, core::time_point now) {
  if (!x.there)
    return;
  for (const auto v : x.variants)
    hosting_.hurry(v, now);
  retry_loads(now);
  settle(now);
}

bool hub::end_unloadable(core::lane_id lane, core::time_point now) {
  if (!hosting_.waits())
    return false;
  std::vector<std::pair<core::request_id, core::error>> over;
  for (const auto id : queues_.of(lane)) {
    const auto& r = requests_.at(id);
    if (auto why = matching_.unloadable(*r.course.running_leg()))
      over.emplace_back(id, std::move(*why));
  }
  for (auto& [id, why] : over)
    leg_failed(id, requests_.at(id), std::move(why), now);
  return !over.empty();
}

void hub::leg_failed(core::request_id id, row& r, core::error why,
                     core::time_point now) {
  r.course.end_leg(why.code);
  if (std::holds_alternative<planning::give_up>(r.course.next()))
    return end_row(id, r, row_state::failed, std::move(why), now);
  leave_lane(id, r, now);
  forecast_.uncount(id);
  slots_.drop_start(r.held);
  advance(id, r, now);
}

} // namespace atelier::actors
