// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/fair_shares.hpp>

#include <limits>

namespace atelier::planning {

namespace {

// Limits may be the largest number, so no sum is compared.
bool fits(uint64_t held, uint64_t more, uint64_t limit) {
  return held <= limit && more <= limit - held;
}

} // namespace

bool is_granted(const fair_claim& x) {
  if (fits(x.total, x.more, x.limit))
    return true;
  constexpr auto most = std::numeric_limits<uint64_t>::max();
  const auto bound = x.limit > most / 2 ? most : 2 * x.limit;
  if (!fits(x.total, x.more, bound))
    return false;
  return x.own == 0 ? x.more <= x.limit
                    : fits(x.own, x.more, x.limit / x.tenants);
}

void fair_shares::add(core::tenant_id whose, uint64_t amount) {
  if (amount == 0)
    return;
  held_[whose] += amount;
  total_ += amount;
}

void fair_shares::remove(core::tenant_id whose, uint64_t amount) {
  if (amount == 0)
    return;
  const auto at = held_.find(whose);
  ATELIER_EXPECTS(at != held_.end() && at->second >= amount,
                  "what is removed was added");
  total_ -= amount;
  at->second -= amount;
  if (at->second == 0)
    held_.erase(at);
}

bool fair_shares::grants(core::tenant_id whose, uint64_t more,
                         uint64_t limit) const {
  const auto own = of(whose);
  const uint64_t tenants = held_.size() + (own == 0 ? 1 : 0);
  return is_granted({limit, total_, own, more, tenants});
}

bool fair_shares::is_below_mean(core::tenant_id whose) const {
  const uint64_t tenants = held_.size();
  return tenants > 0 && of(whose) < (total_ + tenants - 1) / tenants;
}

uint64_t fair_shares::of(core::tenant_id whose) const {
  const auto at = held_.find(whose);
  return at == held_.end() ? 0 : at->second;
}

} // namespace atelier::planning
