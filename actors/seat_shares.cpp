// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/shares.hpp>
#include <atelier/actors/seat_shares.hpp>

#include <algorithm>

namespace atelier::actors {

tenant_set tenants_at(const worker& w, const orders& given) {
  tenant_set out;
  for (const auto who : w.has)
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
  const auto beside = w.seats - std::min(w.view.max_batch, w.seats);
  const auto others = std::min(beside, w.seats / share_for_others);
  if (w.view.seats_free > std::max(beside, w.seats / most_for_active))
    return {};
  const auto here = tenants_at(w, given);
  if (here.empty())
    return {};
  if (w.view.seats_free > others) {
    const auto drawing = tenants_at_devices(all, given);
    if (w.view.seats_free > active.count_others(
          {}, [&](auto other) { return drawing.contains(other); }))
      return {};
  }
  return {here.begin(), here.end()};
}

} // namespace atelier::actors
