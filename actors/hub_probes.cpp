// SPDX-License-Identifier: Apache-2.0

// Searches that no request waits for: while no route starts from cached work,
// they tell policies how long retrieving takes.

#include <atelier/actors/hub.hpp>

#include <memory>

namespace atelier::actors {

namespace {

/// No request has such a number: those of requests rise from 1.
constexpr uint64_t probe_bit = uint64_t{1} << 63;

} // namespace

void hub::probe(const std::shared_ptr<const core::request>& asked,
                core::time_point now) {
  if (probe_ && now >= core::after(probe_->since, config_.pace.facts)) {
    const auto took = core::to_seconds(now - probe_->since);
    probe_.reset();
    note_retrieval({took, true, now});
  }
  if (probe_ || !ports_.facts || plan_->probe_every.count() <= 0
      || now < core::after(last_probe_, plan_->probe_every))
    return;
  auto like = std::make_shared<core::request>(*asked);
  like->kind = core::request_kind::probe;
  like->id = core::request_id{probe_bit | ++probes_};
  like->source = nullptr;
  last_probe_ = now;
  probe_ = open_probe{like->id, now};
  planning::need wanted;
  wanted.near = true;
  ports_.facts->find(std::move(like), wanted, 0);
}

bool hub::probe_found(const facts_found& x, core::time_point now) {
  if ((x.id.value & probe_bit) == 0)
    return false;
  if (probe_ && probe_->id == x.id) {
    const auto took = core::to_seconds(now - probe_->since);
    probe_.reset();
    note_retrieval({took, !x.what.near, now});
  }
  return true;
}

} // namespace atelier::actors
