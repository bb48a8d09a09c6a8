// SPDX-License-Identifier: Apache-2.0

// Searches that no request waits for: while no route starts from cached work,
// they show policies how long retrieval takes.

#include <atelier/actors/hub.hpp>

#include <memory>
#include <utility>

namespace atelier::actors {

void hub::probe(const std::shared_ptr<const core::request>& asked,
                core::time_point now) {
  if (const auto since = probes_.end_late(config_.pace.facts, now))
    note_retrieval({core::to_seconds(now - *since), true, now});
  if (!probes_.is_due(rules_.plan()->probe_every, now))
    return;
  auto like = std::make_shared<core::request>(*asked);
  like->kind = core::request_kind::probe;
  like->id = probes_.next(now);
  like->source = nullptr;
  row nobodys;
  nobodys.request = like;
  nobodys.course.begin(*like, *config_.profile, rules_.plan(), rules_.slots());
  planning::need wanted;
  wanted.near = true;
  for (size_t i = 0; path_.is(i, planning::hook::before_route); ++i) {
    if (!path_.at(i).row().on_demand)
      continue;
    auto order = path_.at(i).begin(
      nobodys.course.view_without_route(nobodys.held, {}, wanted));
    if (order && *order
        && order_aside(like->id, nobodys, i, std::move(**order),
                       config_.pace.facts, now))
      return probes_.begin(now);
  }
}

bool hub::probe_over(const stage_done& x, const dispatched& was,
                     const core::error& why, core::time_point now) {
  if (!probes::is_probe(x.ticket.id))
    return false;
  const auto since = probes_.end(x.ticket.id);
  if (!since)
    return true;
  planning::facts told;
  const bool failed = why.code != core::ec::none
                   || !path_.at(was.stage).end(x.outcome, told) || !told.near;
  note_retrieval(
    {core::to_seconds(failed ? now - *since : x.took), failed, now});
  return true;
}

} // namespace atelier::actors
