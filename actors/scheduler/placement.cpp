// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/placement.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace atelier::actors {

namespace {

bool has(const std::vector<core::variant_id>& all, core::variant_id v) {
  return std::find(all.begin(), all.end(), v) != all.end();
}

} // namespace

placement::placement(parts& of, deliveries& out, queueing& waiting,
                     lifecycle& rows)
  : config_(of.config),
    ports_(of.ports),
    records_(of.records),
    rules_(of.rules),
    requests_(of.requests),
    workers_(of.workers),
    queues_(of.queues),
    hosting_(of.hosting),
    forecast_(of.forecast),
    views_(of.views),
    matching_(of.matching),
    out_(out),
    queueing_(waiting),
    rows_(rows) {}

// -- plans and loads ----------------------------------------------------------

bool placement::follow_plan(core::time_point now) {
  const auto& plan = *rules_.plan();
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
  return changed;
}

void placement::apply(const planning::assignment& x, worker& w,
                      core::time_point now) {
  std::vector<core::variant_id> running;
  for (const auto who : w.seat.orders())
    if (const auto* r = requests_.last(who))
      running.push_back(r->course.recipe().variant);
  follow(hosting_.apply(w, x, running, now), w, now);
}

bool placement::on(const adopted& x, core::time_point now) {
  auto* w = workers_.find(x.worker);
  if (w == nullptr || x.number != w->host.last_order()) {
    records_.count(&counters::stale_replies);
    return false;
  }
  out_.heard(*w, now);
  const auto changed = hosting_.adopted(*w, x, now);
  if (!changed)
    return false;
  follow(*changed, *w, now);
  return true;
}

void placement::follow(const hosting::change& x, worker& w,
                       core::time_point now) {
  if (x.ends_drain)
    w.trial.go_on();
  for (const auto& order : x.orders)
    out_.tell(w, order);
  for (uint32_t i = 0; i < x.loads; ++i)
    records_.count(&counters::loads);
  if (x.loaded)
    forecast_.loaded(x.loaded->first, w.kind(), x.loaded->second);
  if (x.members) {
    workers_.members_changed();
    hosting_.changed();
  }
  if (x.rehome)
    queueing_.rehome(w.id(), now);
  out_.offer(w);
  if (x.report)
    ports_.watch->cluster_changed(views_.cluster());
}

// -- queues without a host ----------------------------------------------------

void placement::look_anew() {
  if (!hosting_.take_change())
    return;
  // The other workers that serve the same queues may have changed.
  for (auto& [id, w] : workers_.all())
    if (w.slow())
      out_.offer(w);
  for (uint32_t v = 0; v < config_.profile->variants.size(); ++v)
    for (const auto queue : {core::queue_id{v}, alone_queue(core::queue_id{v})})
      queues_.touch_waiting(queue);
}

void placement::look_for_host(core::queue_id queue) {
  if (planning::worker_of(queue) || !hosting_.begin_search(queue))
    return;
  const core::variant_id wanted{queue.value};
  bool any = false;
  for (const auto& [id, w] : workers_.all()) {
    if (!w.on_device() || w.suspected())
      continue;
    any = true;
    if (w.host.will_host(wanted) || w.host.serves(queue))
      return;
  }
  if (any)
    hosting_.missing(wanted);
}

void placement::tell_waiting() {
  auto unhosted = hosting_.tell(queues_.size(), rules_.plan()->grouped);
  if (!unhosted)
    return;
  std::map<core::variant_id, core::time_point> since;
  for (const auto v : *unhosted)
    for (const auto queue :
         {planning::queue_of(v), alone_queue(planning::queue_of(v))})
      for (const auto id : queues_.of(queue)) {
        const auto at = requests_.at(id).waiting_since();
        const auto [i, fresh] = since.emplace(v, at);
        i->second = std::min(i->second, at);
      }
  std::stable_sort(unhosted->begin(), unhosted->end(),
                   [&](auto a, auto b) { return since[a] < since[b]; });
  auto there = views_.cluster();
  there.unhosted = std::move(*unhosted);
  there.waiting = records_.counts().waiting_shared;
  ports_.watch->cluster_changed(std::move(there));
}

// -- variants that devices could not load -------------------------------------

void placement::retry_loads(core::time_point now) {
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
  ports_.watch->cluster_changed(views_.cluster());
}

bool placement::on(const wish_hosting& x, core::time_point now) {
  if (!x.there)
    return false;
  for (const auto v : x.variants)
    hosting_.hurry(v, now);
  retry_loads(now);
  return true;
}

bool placement::end_unloadable(core::queue_id queue, core::time_point now) {
  if (!hosting_.waits())
    return false;
  std::vector<std::pair<core::request_id, core::error>> over;
  for (const auto id : queues_.of(queue)) {
    const auto& r = requests_.at(id);
    if (auto why = matching_.unloadable(*r.course.running_leg()))
      over.emplace_back(id, std::move(*why));
  }
  for (auto& [id, why] : over)
    rows_.leg_failed(id, requests_.at(id), std::move(why), now);
  return !over.empty();
}

} // namespace atelier::actors
