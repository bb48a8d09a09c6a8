// SPDX-License-Identifier: Apache-2.0

// What workers host, and how their batches form: a plan is applied here.

#include <atelier/actors/hub.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

void hub::apply(const planning::assignment& x, worker& w,
                core::time_point now) {
  withdraw(w);
  w.view.level = x.level;
  w.also_serves = x.also_serves;
  const auto batch = std::clamp(x.batch, 1u, w.view.max_batch);
  const auto join = config_.join.value_or(x.join);
  const bool batches = batch != w.most_rows || join != w.join;
  w.most_rows = batch;
  w.join = join;
  // A worker whose variants nobody plans keeps them.
  const auto& has = w.loading || w.next_hosting ? w.becoming : w.view.hosting;
  if (!x.hosting.empty() && x.hosting != has) {
    w.next_hosting = x.hosting;
    w.becoming = x.hosting;
    // Where nothing is to be loaded it counts as there: its rows end soon.
    const bool loads =
      std::any_of(x.hosting.begin(), x.hosting.end(), [&](const auto v) {
        return config_.profile->variants[v.value].load.count() > 0
            && std::find(w.view.hosting.begin(), w.view.hosting.end(), v)
                 == w.view.hosting.end();
      });
    w.view.hosting = loads ? std::vector<core::variant_id>{} : x.hosting;
    w.draining = false;
    serve(w);
    members_changed_ = true;
    rehome(w.view.worker, now);
    change_hosting(w);
  } else if (batches && !w.loading && !w.next_hosting) {
    serve(w);
    ports_.workers->send(w.where, adopt{++w.adopts, {}, w.most_rows, w.join});
  } else {
    serve(w);
  }
  offer(w);
}

void hub::change_hosting(worker& w) {
  if (!w.next_hosting || w.loading || w.view.seats_taken != 0)
    return;
  w.loading = true;
  ++counts_.loads;
  ports_.workers->send(w.where,
                       adopt{++w.adopts, *w.next_hosting, w.most_rows, w.join});
  w.next_hosting.reset();
}

void hub::on(const adopted& x, core::time_point now) {
  auto* w = find(x.who);
  if (w == nullptr || x.number != w->adopts) {
    ++counts_.stale_replies;
    return;
  }
  w->last_sign = now;
  if (!w->loading)
    return;
  w->loading = false;
  if (w->next_hosting) {
    change_hosting(*w);
    return settle(now);
  }
  withdraw(*w);
  const auto before = w->view.hosting;
  w->view.hosting = x.failure.code == core::ec::none
                    ? w->becoming
                    : std::vector<core::variant_id>{};
  w->becoming = w->view.hosting;
  serve(*w);
  members_changed_ = true;
  offer(*w);
  if (w->view.hosting != before)
    ports_.watch->cluster_changed(cluster());
  settle(now);
}

void hub::serve(worker& w) {
  withdraw(w);
  w.serves = planning::lanes_of(w.view);
  for (const auto lane : w.also_serves)
    if (std::find(w.serves.begin(), w.serves.end(), lane) == w.serves.end())
      w.serves.push_back(lane);
}

bool hub::takes_more(const worker& w) const {
  if (w.view.seats_free == 0 || w.draining || w.exclusive || w.suspected
      || w.loading || w.next_hosting)
    return false;
  if (w.where.what != role::denoise_step || w.join == planning::joining::step)
    return true;
  const auto batch =
    w.join == planning::joining::single ? 1u : std::max(w.most_rows, 1u);
  return w.view.seats_taken == 0 || (w.filling && w.view.seats_taken < batch);
}

void hub::end_filling() {
  for (const auto id : std::exchange(filling_, {}))
    if (const auto i = workers_.find(id); i != workers_.end()) {
      auto& w = i->second;
      withdraw(w);
      w.filling = false;
      offer(w);
      auto rows = std::exchange(w.joining, {});
      for (auto& x : rows) {
        x.more = &x != &rows.back();
        ports_.workers->send(w.where, std::move(x));
      }
    }
}

void hub::rehome(core::worker_id gone, core::time_point now) {
  const auto own = planning::lane_of(gone);
  for (const auto lane : {own, alone_lane(own)})
    for (const auto id : lanes_.of(lane)) {
      auto& r = rows_.at(id);
      leave_lane(id, r, now);
      wait(id, r, now, false);
    }
}

} // namespace atelier::actors
