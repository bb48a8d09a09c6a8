// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/recovery_watch.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

/// Number of deaths that are followed at a time; a new one replaces the oldest.
constexpr size_t most_deaths = 64;

} // namespace

void duration_counts::add(core::timespan x) {
  const auto i =
    std::lower_bound(bounds.begin(), bounds.end(), core::to_seconds(x));
  ++buckets[static_cast<size_t>(i - bounds.begin())];
  sum += x;
}

void recovery_watch::ready(core::process_id who, core::time_point now) {
  auto& p = parts_[who];
  p.died.reset();
  if (!p.since)
    p.since = now;
}

void recovery_watch::down(core::process_id who, core::time_point now) {
  auto& p = parts_[who];
  if (!p.since)
    return;
  p.before += now - *std::exchange(p.since, std::nullopt);
  p.died = now;
}

void recovery_watch::lost(core::process_id who,
                          std::vector<core::request_id> denoised, bool open,
                          core::time_point now) {
  down(who, now);
  const auto at = std::exchange(parts_[who].died, std::nullopt);
  // A process that had no worker yet adds no delay to that of its earlier
  // death.
  if (!at || !open)
    return;
  if (deaths_.size() == most_deaths)
    deaths_.erase(deaths_.begin());
  deaths_.push_back({*at, std::move(denoised)});
}

void recovery_watch::stepped(core::request_id who, core::time_point now) {
  for (auto& x : deaths_)
    if (std::find(x.rows.begin(), x.rows.end(), who) != x.rows.end()) {
      until_step_.add(now - x.time);
      x.rows.clear();
    }
  forget_answered();
}

void recovery_watch::encoded(core::time_point now) {
  for (auto& x : deaths_)
    if (std::exchange(x.waits_for_image, false))
      until_image_.add(now - x.time);
  forget_answered();
}

void recovery_watch::forget_answered() {
  std::erase_if(deaths_, [](const death& x) {
    return x.rows.empty() && !x.waits_for_image;
  });
}

void recovery_watch::rest() {
  deaths_.clear();
}

recovery_counts recovery_watch::counts(core::time_point now) const {
  recovery_counts out{until_step_, until_image_, {}};
  for (const auto& [who, p] : parts_)
    out.ready[who] = p.before + (p.since ? now - *p.since : core::timespan{0});
  return out;
}

} // namespace atelier::actors
