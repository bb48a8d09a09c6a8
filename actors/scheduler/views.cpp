// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/queue_ids.hpp>
#include <atelier/actors/scheduler/views.hpp>
#include <atelier/planning/policy.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

views::views(const workers& all, const orders& given, const queues& waiting,
             const requests& rows, forecast& predicts)
  : workers_(all),
    orders_(given),
    queues_(waiting),
    requests_(rows),
    forecast_(predicts) {}

const planning::cluster_view& views::cluster() const {
  if (workers_.look(
        [this](const worker& w, planning::worker_view& out) { write(out, w); }))
    forecast_.see(workers_.seen());
  return workers_.seen();
}

void views::write(planning::worker_view& out, const worker& w) const {
  out = w.view();
  for (const auto who : w.seat.orders()) {
    const auto v = orders_.at(who).variant;
    const auto at = std::lower_bound(out.running.begin(), out.running.end(), v);
    if (at == out.running.end() || *at != v)
      out.running.insert(at, v);
  }
  if (!lists_rows_)
    return;
  for (const auto who : w.seat.orders()) {
    const auto& x = orders_.at(who);
    out.rows.push_back(
      {x.masked, x.steps - std::min(x.steps, x.steps_done), true});
  }
  const auto own = planning::queue_of(w.id());
  for (const auto queue : {own, alone_queue(own)})
    for (const auto id : queues_.of(queue)) {
      const auto& r = requests_.at(id);
      out.rows.push_back({r.course.masked_as_it_runs(), steps_left(r), false});
    }
}

bool views::list_rows() {
  return !std::exchange(lists_rows_, true);
}

} // namespace atelier::actors
