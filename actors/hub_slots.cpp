// SPDX-License-Identifier: Apache-2.0

// Which slots a row's dispatch takes, and which it leaves.

#include <atelier/actors/hub.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace atelier::actors {

namespace {

using planning::access;
using planning::held;

constexpr auto image_kind = static_cast<size_t>(ipc::slot_kind::image);

} // namespace

slot_counts hub::left_for_others(
  const row& r, const std::function<tenant_set()>& with_some) const {
  const auto whose = r.request->tenant;
  if (whose == core::tenant_id{} || r.course.leg() > 0)
    return {};
  const auto has = with_some();
  if (!has.contains(whose))
    return {};
  return slots_.left_for_others(
    r.course.phase(), requests_.tenants().count_others(
               whose, [&](auto other) { return has.contains(other); }));
}

slot_counts hub::left_for_waiting(const row& r) const {
  slot_counts out{};
  const auto images = slots_.images_left_for_waiting();
  // A row that drew before, or by itself, delays others for as long as it
  // waits.
  if (images == 0 || r.course.leg() > 0 || r.held.steps() > 0
      || suspicions_.is_alone(r.request->id))
    return out;
  // A tenant's request does not make one with a larger share wait, but many of
  // these do not make it wait forever.
  if (const auto* waits = requests_.find(*slots_.waiting_for_images());
      waits != nullptr && waits->request->share < r.request->share
      && !slots_.waits_long())
    return out;
  bool runs = false;
  orders_.each([&](core::ticket, const dispatched& x) {
    runs = runs || (x.phase == phase::denoising && !x.side);
  });
  if (runs)
    out[image_kind] = images;
  return out;
}

void hub::note_slot_wait(core::request_id id) {
  records_.slot_wait();
  const auto& r = requests_.at(id);
  if (r.course.phase() != phase::preparing || !r.course.slots().reads_files)
    return;
  const auto& needs = r.course.slots();
  slots_.wait_for_images(id,
                         needs.granted[image_kind] + needs.reserve[image_kind]);
}

hub::slot_needs hub::needs_of(const row& r) const {
  const auto& at = r.course.slots();
  slot_needs out{at.granted, at.reserve};
  if (r.course.phase() != phase::preparing)
    return out;
  // Others are left some slots of the kinds that this takes; it takes none of
  // the other kinds.
  const auto others = left_for_others(r, [this] {
    auto with_some = tenants_at_devices(workers_, orders_);
    const auto ahead = requests_.with_ahead();
    with_some.insert(ahead.begin(), ahead.end());
    return with_some;
  });
  auto shared = out.takes;
  shared[image_kind] += at.reads_files ? 1u : 0u;
  for (size_t kind = 0; kind < shared.size(); ++kind)
    if (shared[kind] > 0)
      out.leaves[kind] += others[kind];
  return out;
}

const held_slots* hub::grant_for_stage(core::ticket who, const row& r,
                                       const worker& w) {
  const bool brings = r.request->source != nullptr;
  const auto* const leg = r.course.running_leg();
  std::array<held, planning::held_names> names{};
  size_t granted = 0;
  const auto uses = path_.at(r.course.stage()).row().slots;
  for (const auto& x : uses)
    if (x.mode != access::reads && x.name != held::capture
        && x.applies(leg, brings))
      names[granted++] = x.name;
  const auto wanted = std::span(names).first(granted);
  const auto left = needs_of(r).leaves;
  const auto* const given =
    r.course.slots().reads_files
      ? slots_.grant_with_files(who, w.address.process, wanted,
                                *r.request->source, left)
      : slots_.grant(who, w.address.process, wanted, left);
  if (given == nullptr)
    return nullptr;
  for (const auto& x : uses)
    if (x.mode != access::writes && x.applies(leg, brings))
      if (const auto slot = r.held[x.name])
        slots_.read(who, w.address.process, x.name, slot);
  return given;
}

slot_counts hub::sum(slot_counts a, const slot_counts& b) {
  for (size_t kind = 0; kind < a.size(); ++kind)
    a[kind] += b[kind];
  return a;
}

} // namespace atelier::actors
