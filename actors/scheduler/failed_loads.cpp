// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/failed_loads.hpp>

#include <algorithm>

namespace atelier::actors {

bool failed_loads::note(key which, core::error why, core::time_point now) {
  const auto [at, fresh] = all_.try_emplace(which);
  auto& x = at->second;
  if (fresh) {
    x.since = now;
    x.due = core::never;
  }
  const bool news = fresh || x.why != why;
  x.why = std::move(why);
  return news;
}

bool failed_loads::failed(key which, core::error why, core::time_point now) {
  const bool news = note(which, std::move(why), now);
  auto& x = all_.at(which);
  x.pause = std::clamp(2 * x.pause, least_load_pause, most_load_pause);
  x.due = core::after(now, x.pause);
  return news;
}

bool failed_loads::doubted(key which, core::error why, core::time_point now) {
  return note(which, std::move(why), now);
}

bool failed_loads::loaded(key which) {
  return all_.erase(which) != 0;
}

std::vector<failed_loads::key> failed_loads::due(core::time_point now) {
  std::vector<key> out;
  for (auto& [which, x] : all_)
    if (x.due <= now) {
      x.due = core::never;
      out.push_back(which);
    }
  return out;
}

void failed_loads::hurry(core::variant_id variant, core::time_point now) {
  for (auto& [which, x] : all_)
    if (which.second == variant) {
      x.pause = {};
      x.due = std::min(x.due, now);
    }
}

bool failed_loads::waits() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const auto& x) { return x.second.due != core::never; });
}

const failed_loads::entry* failed_loads::paused(key which) const {
  const auto i = all_.find(which);
  return i != all_.end() && i->second.due != core::never ? &i->second : nullptr;
}

const failed_loads::entry* failed_loads::paused_anywhere(
  core::variant_id variant) const {
  const auto i = std::find_if(all_.begin(), all_.end(), [&](const auto& x) {
    return x.first.second == variant && x.second.due != core::never;
  });
  return i != all_.end() ? &i->second : nullptr;
}

std::optional<core::variant_id> failed_loads::next_try(
  device_place at, const std::vector<core::variant_id>& of) const {
  std::optional<core::variant_id> out;
  core::timespan least{0};
  for (const auto v : of)
    if (const auto i = all_.find({at, v});
        i != all_.end() && i->second.due == core::never
        && (!out || i->second.pause < least)) {
      out = v;
      least = i->second.pause;
    }
  return out;
}

bool failed_loads::knows(key which) const {
  return all_.count(which) != 0;
}

} // namespace atelier::actors
