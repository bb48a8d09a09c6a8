// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/active_tenants.hpp>

#include <algorithm>

namespace atelier::actors {

void active_tenants::set_time(core::time_point now) {
  now_ = std::max(now_, now);
}

void active_tenants::came(core::tenant_id whose) {
  if (whose == core::tenant_id{})
    return;
  ++entries_[whose].requests;
}

void active_tenants::left(core::tenant_id whose) {
  const auto at = entries_.find(whose);
  if (at == entries_.end() || at->second.requests == 0)
    return;
  --at->second.requests;
  at->second.ended = now_;
}

bool active_tenants::forget_departed() {
  return std::erase_if(entries_,
                       [&](const auto& x) { return is_over(x.second); })
       > 0;
}

size_t active_tenants::count_others(
  core::tenant_id whose,
  const std::function<bool(core::tenant_id)>& has) const {
  return static_cast<size_t>(
    std::count_if(entries_.begin(), entries_.end(), [&](const auto& x) {
      return x.first != whose && !is_over(x.second) && !has(x.first);
    }));
}

bool active_tenants::is_over(const entry& x) const {
  return x.requests == 0 && now_ - x.ended >= remembered;
}

} // namespace atelier::actors
