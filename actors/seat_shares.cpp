// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/shares.hpp>
#include <atelier/actors/seat_shares.hpp>

#include <algorithm>

namespace atelier::actors {

tenant_set tenants_at(const worker& w, const orders& given) {
  tenant_set out;
  for (const auto who : w.seat.orders())
    if (const auto whose = given.at(who).tenant; whose != core::tenant_id{})
      out.insert(whose);
  return out;
}

tenant_set tenants_at_devices(const workers& all, const orders& given) {
  tenant_set out;
  for (const auto& [id, w] : all.all())
    if (w.on_device()) {
      const auto here = tenants_at(w, given);
      out.insert(here.begin(), here.end());
    }
  return out;
}

std::vector<core::tenant_id> leave_seats(const worker& w, const workers& all,
                                         const orders& given,
                                         const active_tenants& active) {
  const auto beside = w.seat.all() - std::min(w.max_batch(), w.seat.all());
  const auto others = std::min(beside, w.seat.all() / share_for_others);
  if (w.seat.free() > std::max(beside, w.seat.all() / most_for_active))
    return {};
  const auto here = tenants_at(w, given);
  if (here.empty())
    return {};
  if (w.seat.free() > others) {
    const auto drawing = tenants_at_devices(all, given);
    if (w.seat.free() > active.count_others(
          {}, [&](auto other) { return drawing.contains(other); }))
      return {};
  }
  return {here.begin(), here.end()};
}

} // namespace atelier::actors
