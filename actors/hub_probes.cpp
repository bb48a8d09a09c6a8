// SPDX-License-Identifier: Apache-2.0

// Searches that no request waits for: while no route starts from cached work,
// they show policies how long retrieval takes.

#include <atelier/actors/hub.hpp>

#include <memory>
#include <utility>

namespace atelier::actors {

namespace {

/// Marks the numbers of probes; those of requests rise from 1 and never have
/// it.
constexpr uint64_t probe_bit = uint64_t{1} << 63;

} // namespace

void hub::probe(const std::shared_ptr<const core::request>& asked,
                core::time_point now) {
  if (probe_ && now >= core::after(probe_->since, config_.pace.facts)) {
    const auto took = core::to_seconds(now - probe_->since);
    probe_.reset();
    note_retrieval({took, true, now});
  }
  if (probe_ || plan_->probe_every.count() <= 0
      || now < core::after(last_probe_, plan_->probe_every))
    return;
  auto like = std::make_shared<core::request>(*asked);
  like->kind = core::request_kind::probe;
  like->id = core::request_id{probe_bit | ++probes_};
  like->source = nullptr;
  last_probe_ = now;
  row nobodys;
  nobodys.request = like;
  nobodys.state = row_state::asking;
  planning::need wanted;
  wanted.near = true;
  for (size_t i = 0; path_.is(i, planning::hook::before_route); ++i) {
    if (!path_.at(i).row().on_demand)
      continue;
    auto order = path_.at(i).begin(view_of(nobodys, wanted));
    if (order && *order
        && order_aside(like->id, nobodys, i, std::move(**order),
                       config_.pace.facts, now)) {
      probe_ = open_probe{like->id, now};
      return;
    }
  }
}

bool hub::probe_over(const stage_done& x, const dispatched& was,
                     const core::error& why, core::time_point now) {
  if ((x.ticket.id.value & probe_bit) == 0)
    return false;
  if (!probe_ || probe_->id != x.ticket.id)
    return true;
  planning::facts told;
  const bool failed = why.code != core::ec::none
                   || !path_.at(was.stage).end(x.outcome, told) || !told.near;
  const auto took = core::to_seconds(failed ? now - probe_->since : x.took);
  probe_.reset();
  note_retrieval({took, failed, now});
  return true;
}

} // namespace atelier::actors
