// SPDX-License-Identifier: Apache-2.0

// Which slots a row's dispatch asks for, and which it leaves.

#include <atelier/actors/hub.hpp>
#include <atelier/actors/slot_needs.hpp>

namespace atelier::actors {

slot_counts hub::left_for_others(const row& r, bool has_some) const {
  if (r.what->tenant == core::tenant_id{} || r.leg > 0 || !has_some)
    return {};
  return slots_.left_for_others(r.at);
}

slot_counts hub::left_for_next(const row& r) const {
  return actors::slots::left_for_next(r.under->routes[r.along.value], r.leg,
                                      r.at, r.what->source != nullptr);
}

const held_slots* hub::grant_for_preparing(core::ticket who, const row& r,
                                           const worker& w) {
  using ipc::slot_kind;
  const auto left = sum(
    left_for_next(r), left_for_others(r, requests_.has_ahead(r.what->tenant)));
  if (r.what->source)
    return slots_.grant_with_files(who, w.where.where, *r.what->source, left);
  if (!r.how.from_image)
    return slots_.grant(who, w.where.where, {slot_kind::state},
                        {left[static_cast<size_t>(slot_kind::state)], 0, 0});
  const auto* held = slots_.grant(who, w.where.where,
                                  {slot_kind::state, slot_kind::image}, left);
  if (held != nullptr)
    slots_.read(who, w.where.where, r.known.done[*r.known.best].image);
  return held;
}

} // namespace atelier::actors
