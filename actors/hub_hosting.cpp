// SPDX-License-Identifier: Apache-2.0

// Applies a plan: the variants that workers host, and how their batches form.

#include <atelier/actors/hub.hpp>
#include <atelier/planning/kinds.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

std::vector<core::variant_id> without(
  std::vector<core::variant_id> hosting,
  const std::vector<gpu::load_failure>& failed) {
  std::erase_if(hosting, [&](auto v) {
    return std::any_of(failed.begin(), failed.end(),
                       [&](const auto& x) { return x.variant == v; });
  });
  return hosting;
}

} // namespace

void hub::apply(const planning::assignment& x, worker& w,
                core::time_point now) {
  w.view.level = x.level;
  w.also_serves = x.also_serves;
  if (!x.leaving.empty())
    send_away(x.leaving, w, now);
  const auto batch = std::clamp(x.batch, 1u, w.view.max_batch);
  const auto join = config_.join.value_or(x.join);
  const bool batches = batch != w.most_rows || join != w.join;
  w.most_rows = batch;
  w.join = join;
  // A worker to which the plan assigns no variants keeps its own.
  auto hosting = loadable(x.hosting, w);
  if (!hosting.empty() && hosting != w.view.becoming) {
    host(std::move(hosting), w, now);
  } else if (batches && !w.loading && !w.next_hosting && !w.beside) {
    serve(w);
    tell(w, workers::order_for(w, {}));
  } else {
    serve(w);
  }
  tell_leaving(w);
  offer(w);
}

void hub::send_away(const std::vector<core::variant_id>& leaving, worker& w,
                    core::time_point now) {
  const auto drop = [&](std::vector<core::variant_id>& from) {
    return std::erase_if(from, [&](auto v) {
      return std::find(leaving.begin(), leaving.end(), v) != leaving.end();
    });
  };
  drop(w.leaving);
  w.leaving.insert(w.leaving.end(), leaving.begin(), leaving.end());
  if (w.next_hosting)
    drop(*w.next_hosting);
  if (drop(w.view.becoming) + drop(w.view.hosting) == 0)
    return;
  serve(w);
  hosting_changed();
  rehome(w.view.worker, now);
}

void hub::tell_leaving(worker& w) {
  if (w.leaving.empty() || w.loading || w.beside || w.next_hosting)
    return;
  auto order = workers::order_for(w, {});
  order.leaving = std::exchange(w.leaving, {});
  // Variants that it hosts again by now stay.
  std::erase_if(order.leaving, [&](auto v) {
    return std::find(w.view.hosting.begin(), w.view.hosting.end(), v)
        != w.view.hosting.end();
  });
  tell(w, std::move(order));
}

void hub::host(std::vector<core::variant_id> hosting, worker& w,
               core::time_point now) {
  w.view.becoming = std::move(hosting);
  w.draining = false;
  // If nothing must be loaded the variants count as hosted: its rows end soon.
  const auto& will = w.view.becoming;
  const bool loads = std::any_of(will.begin(), will.end(), [&](const auto v) {
    return (w.loads_beside
            || load_on(*config_.profile, v, w.view.device_kind).count() > 0)
        && std::find(w.view.hosting.begin(), w.view.hosting.end(), v)
             == w.view.hosting.end();
  });
  w.beside = loads && w.loads_beside && !w.loading && !w.next_hosting;
  if (!w.beside)
    return drain_and_load(w, loads, now);
  w.load_began = now;
  hosting_changed();
  serve(w);
  auto order = workers::order_for(w, w.view.becoming);
  order.keep = w.view.hosting;
  for (const auto who : w.has)
    if (const auto* r = requests_.last(who))
      if (const auto v = r->course.recipe().variant;
          std::find(order.keep.begin(), order.keep.end(), v)
          == order.keep.end())
        order.keep.push_back(v);
  tell(w, std::move(order));
}

void hub::drain_and_load(worker& w, bool loads, core::time_point now) {
  w.next_hosting = w.view.becoming;
  w.view.hosting = loads ? std::vector<core::variant_id>{} : w.view.becoming;
  serve(w);
  hosting_changed();
  rehome(w.view.worker, now);
  change_hosting(w, now);
}

void hub::change_hosting(worker& w, core::time_point now) {
  if (!w.next_hosting || w.loading || w.view.seats_taken != 0)
    return;
  w.loading = true;
  w.load_began = now;
  // A loading worker hosts nothing meanwhile.
  if (w.view.hosting != *w.next_hosting)
    records_.loads();
  tell(w, workers::order_for(w, *w.next_hosting));
  w.next_hosting.reset();
}

void hub::on(const adopted& x, core::time_point now) {
  auto* w = workers_.find(x.worker);
  if (w == nullptr || x.number != w->adopts) {
    records_.stale_reply();
    return;
  }
  w->last_sign = running(now);
  if (w->beside)
    return adopted_beside(x, *w, now);
  if (!w->loading)
    return;
  w->loading = false;
  if (w->next_hosting) {
    change_hosting(*w, now);
    return settle(now);
  }
  note_load(*w, x, now);
  const auto before = w->view.hosting;
  w->view.hosting = x.failure.code == core::ec::none
                    ? without(w->view.becoming, x.failed)
                    : std::vector<core::variant_id>{};
  const auto failed = failures_of(x, *w);
  w->view.becoming = w->view.hosting;
  note_loads(*w, failed, now);
  serve(*w);
  hosting_changed();
  tell_leaving(*w);
  offer(*w);
  if (w->view.hosting != before || !failed.empty())
    ports_.watch->cluster_changed(cluster());
  settle(now);
}

void hub::adopted_beside(const adopted& x, worker& w, core::time_point now) {
  auto failed = failures_of(x, w);
  w.beside = false;
  note_load(w, x, now);
  // What does not fit beside the running rows is loaded without them.
  const auto crowded = std::erase_if(failed, [](const auto& f) {
    return f.why.code == core::ec::out_of_resources;
  });
  auto loaded = without(w.view.becoming, failed);
  if (crowded > 0) {
    // The load is counted when it begins again.
    w.view.becoming = std::move(loaded);
    note_loads(w, failed, now);
    drain_and_load(w, true, now);
  } else {
    records_.loads();
    if (x.failure.code == core::ec::none && !loaded.empty())
      w.view.hosting = std::move(loaded);
    w.view.becoming = w.view.hosting;
    note_loads(w, failed, now);
    serve(w);
    hosting_changed();
    rehome(w.view.worker, now);
    // Sends the batch settings that plans changed since then.
    tell(w, workers::order_for(w, {}));
    ports_.watch->cluster_changed(cluster());
  }
  tell_leaving(w);
  offer(w);
  settle(now);
}

void hub::hosting_changed() {
  workers_.members_changed();
  looks_anew_ = true;
}

void hub::look_anew() {
  if (!std::exchange(looks_anew_, false))
    return;
  // The other workers that serve the same queues may have changed.
  for (auto& [id, w] : workers_.all())
    if (w.slow)
      offer(w);
  looked_.clear();
  for (uint32_t v = 0; v < config_.profile->variants.size(); ++v)
    for (const auto lane : {core::lane_id{v}, alone_lane(core::lane_id{v})})
      queues_.touch_waiting(lane);
}

void hub::look_for_host(core::lane_id lane) {
  if (planning::worker_of(lane) || !looked_.insert(lane).second)
    return;
  const core::variant_id wanted{lane.value};
  bool any = false;
  for (const auto& [id, w] : workers_.all()) {
    if (w.address.role != role::denoise_step || w.suspected)
      continue;
    any = true;
    const auto& will = w.view.becoming;
    if (std::find(will.begin(), will.end(), wanted) != will.end()
        || std::find(w.serves.begin(), w.serves.end(), lane) != w.serves.end())
      return;
  }
  if (any)
    unhosted_.push_back(wanted);
}

void hub::tell_waiting() {
  const bool crowded =
    std::exchange(crowded_, false) && queues_.size() != told_waiting_;
  if (unhosted_.empty() && !crowded)
    return;
  std::map<core::variant_id, core::time_point> since;
  for (const auto v : unhosted_)
    for (const auto lane :
         {planning::lane_of(v), alone_lane(planning::lane_of(v))})
      for (const auto id : queues_.of(lane)) {
        const auto at = requests_.at(id).waiting_since();
        const auto [i, fresh] = since.emplace(v, at);
        i->second = std::min(i->second, at);
      }
  std::stable_sort(unhosted_.begin(), unhosted_.end(),
                   [&](auto a, auto b) { return since[a] < since[b]; });
  auto there = cluster();
  there.unhosted = std::exchange(unhosted_, {});
  there.waiting = records_.counts().waiting_shared;
  if (plan_->grouped)
    told_waiting_ = queues_.size();
  ports_.watch->cluster_changed(std::move(there));
}

void hub::serve(worker& w) {
  w.serves = workers::lanes_of(w);
}

void hub::end_filling() {
  for (const auto id : std::exchange(filling_, {}))
    if (auto* there = workers_.find(id)) {
      auto& w = *there;
      w.filling = false;
      offer(w);
      auto rows = std::exchange(w.joining, {});
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

} // namespace atelier::actors
