// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/slot_shares.hpp>

#include <cstddef>

namespace atelier::actors {

namespace {

constexpr auto image_kind = static_cast<size_t>(ipc::slot_kind::image);

void add(slot_counts& to, const slot_counts& more) {
  for (size_t kind = 0; kind < to.size(); ++kind)
    to[kind] += more[kind];
}

} // namespace

slot_shares::slot_shares(const slots& held, const requests& rows,
                         const orders& given, const workers& all,
                         const suspicions& blamed)
  : slots_(held),
    requests_(rows),
    orders_(given),
    workers_(all),
    suspicions_(blamed) {}

template <class F>
slot_counts slot_shares::left_for_others(const row& r,
                                         const F& with_some) const {
  const auto whose = r.request->tenant;
  if (whose == core::tenant_id{} || r.course.leg() > 0)
    return {};
  const auto has = with_some();
  if (!has.contains(whose))
    return {};
  return slots_.left_for_others(
    r.course.phase(), requests_.tenants().count_others(whose, [&](auto other) {
      return has.contains(other);
    }));
}

slot_counts slot_shares::left_for_waiting(const row& r) const {
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

slot_needs slot_shares::needs_of(const row& r) const {
  const auto& at = r.course.stage_slots();
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

slot_counts slot_shares::left_at(const worker& w, const row& r) const {
  auto out = r.course.stage_slots().reserve;
  add(out, left_for_others(r, [&] { return tenants_at(w, orders_); }));
  add(out, left_for_waiting(r));
  return out;
}

bool slot_shares::has_slots(const row& r) const {
  const auto needs = needs_of(r);
  if (needs.takes == slot_counts{} && !r.course.stage_slots().reads_files)
    return true;
  for (size_t kind = 0; kind < needs.takes.size(); ++kind)
    if (slots_.free(static_cast<ipc::slot_kind>(kind))
        < needs.takes[kind] + needs.leaves[kind])
      return false;
  return true;
}

bool slot_shares::awaits_images() const {
  return slots_.waiting_for_images().has_value();
}

} // namespace atelier::actors
