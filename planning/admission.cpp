// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/admission.hpp>
#include <atelier/planning/policy.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::planning {

namespace {

// The arrivals of this many seconds may arrive at once, and a few always may.
constexpr double burst_seconds = 10;
constexpr double least_burst = 4;

constexpr core::timespan soonest = std::chrono::seconds{1};
constexpr core::timespan latest = std::chrono::hours{1};

// Returns the fraction of a store that a priority leaves to higher ones.
double kept_from(core::priority prio) {
  switch (prio) {
    case core::priority::low:
      return 0.5;
    case core::priority::normal:
      return 0.25;
    case core::priority::high:
      break;
  }
  return 0;
}

} // namespace

void admission::follow(const plan& in_force, core::time_point now) {
  fill(now);
  filled_ = now;
  const auto& rates = in_force.admitted_rates;
  const bool anew = stores_.size() != rates.size();
  stores_.resize(rates.size());
  for (size_t i = 0; i < rates.size(); ++i) {
    store& x = stores_[i];
    x.rate = std::max(rates[i], 0.0);
    x.most = std::max(x.rate * burst_seconds, least_burst);
    x.left =
      anew || std::isinf(x.most) ? x.most : std::clamp(x.left, -x.most, x.most);
    if (x.rate <= 0)
      x.left = std::max(x.left, 1 + kept_from(core::priority::low) * x.most);
  }
}

void admission::fill(core::time_point now) {
  if (now <= filled_)
    return;
  const double passed = core::to_seconds(now - filled_);
  filled_ = now;
  for (store& x : stores_)
    x.left = std::min(x.most, x.left + x.rate * passed);
}

core::timespan admission::admit(core::class_id of, core::priority prio,
                                core::time_point now, claim whose) {
  if (stores_.empty())
    return {};
  const size_t at = stores_.size() == 1 ? 0 : of.value;
  if (at >= stores_.size())
    return {};
  fill(now);
  store& x = stores_[at];
  if (std::isinf(x.most))
    return {};
  const double kept = whose == claim::below_share ? -1 : kept_from(prio);
  const double needs = 1 + kept * x.most;
  if (x.left >= needs) {
    x.left -= 1;
    return {};
  }
  if (x.rate <= 0)
    return latest;
  const double wait = (needs - x.left) / x.rate;
  return std::clamp(core::from_seconds(std::min(wait, 1e6)), soonest, latest);
}

} // namespace atelier::planning
