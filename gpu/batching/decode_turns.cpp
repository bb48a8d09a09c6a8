// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/batching/decode_turns.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace atelier::gpu {

namespace {

// The number of accounts at which those of tenants without rows are dropped.
constexpr size_t most_accounts = 256;

} // namespace

void decode_turns::enter(core::ticket who, core::tenant_id whose,
                         uint32_t share) {
  if (!rows_.emplace(who, whose).second)
    return;
  auto least = std::numeric_limits<double>::infinity();
  for (const auto& [tenant, x] : accounts_)
    if (x.rows > 0 && tenant != whose)
      least = std::min(least, x.used);
  // A tenant that was away owes nothing to one that came meanwhile.
  if (std::isinf(least) || accounts_.size() >= most_accounts)
    std::erase_if(accounts_, [](const auto& x) { return x.second.rows == 0; });
  account& own = accounts_[whose];
  own.share = std::max(share, 1u);
  if (own.rows++ == 0)
    own.used =
      std::isinf(least)
        ? 0
        : std::max(own.used,
                   least - static_cast<double>(last_step_.count()) / own.share);
}

void decode_turns::leave(core::ticket who) {
  const auto at = rows_.find(who);
  if (at == rows_.end())
    return;
  --accounts_.at(at->second).rows;
  rows_.erase(at);
}

void decode_turns::ran(std::span<const core::ticket> rows,
                       core::timespan took) {
  last_step_ = took;
  ++steps_;
  for (const auto who : rows)
    use(who,
        static_cast<double>(took.count()) / static_cast<double>(rows.size()));
}

void decode_turns::decoded(core::ticket who, core::timespan took) {
  steps_ = 0;
  use(who, static_cast<double>(took.count()));
}

void decode_turns::use(core::ticket who, double nanoseconds) {
  account& x = accounts_[tenant_of(who)];
  x.used += nanoseconds / x.share;
}

size_t decode_turns::first(std::span<const core::ticket> images) const {
  const auto led = lead();
  size_t found = 0;
  for (size_t i = 1; i < images.size(); ++i)
    if (standing(tenant_of(images[i]), led)
        < standing(tenant_of(images[found]), led))
      found = i;
  return found;
}

bool decode_turns::may_go(core::ticket image,
                          std::span<const core::ticket> rows,
                          core::timespan spent, core::timespan part,
                          core::timespan step) const {
  const auto whose = tenant_of(image);
  const auto led = lead();
  const double own = standing(whose, led);
  const bool waits =
    !rows.empty() && std::none_of(rows.begin(), rows.end(), [&](auto who) {
      const auto tenant = tenant_of(who);
      return tenant == whose || own < standing(tenant, led);
    });
  if (waits)
    return spent.count() == 0 && steps_ >= steps_before_others;
  const double share = share_of(whose);
  const bool is_favoured =
    !rows.empty() && std::all_of(rows.begin(), rows.end(), [&](auto who) {
      const auto tenant = tenant_of(who);
      return share > share_of(tenant) && own < standing(tenant, led);
    });
  if (is_favoured)
    return true;
  return may_decode_more(spent, part, step);
}

core::tenant_id decode_turns::tenant_of(core::ticket who) const {
  const auto at = rows_.find(who);
  return at == rows_.end() ? core::tenant_id{} : at->second;
}

double decode_turns::share_of(core::tenant_id whose) const {
  const auto at = accounts_.find(whose);
  return at == accounts_.end() ? 1 : at->second.share;
}

planning::share_lead decode_turns::lead() const {
  auto least = std::numeric_limits<double>::infinity();
  for (const auto& [whose, x] : accounts_)
    if (x.rows > 0)
      least = std::min(least, x.share);
  return {static_cast<double>(steps_before_others * last_step_.count()),
          std::isinf(least) ? 1 : least};
}

double decode_turns::standing(core::tenant_id whose,
                              const planning::share_lead& of) const {
  const auto at = accounts_.find(whose);
  return at == accounts_.end() ? 0
                               : of.standing(at->second.used, at->second.share);
}

} // namespace atelier::gpu
