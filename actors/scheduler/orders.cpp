// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/orders.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

void orders::add(core::ticket who, dispatched what, order_times times,
                 core::time_point now) {
  open_.emplace(who, order{std::move(what), times, now});
}

std::optional<dispatched> orders::end(core::ticket who) {
  const auto i = open_.find(who);
  if (i == open_.end())
    return std::nullopt;
  std::optional out{std::move(i->second.what)};
  open_.erase(i);
  return out;
}

void orders::report(core::ticket who, bool stepping) {
  if (const auto i = open_.find(who); i != open_.end())
    i->second.what.stepping = stepping;
}

bool orders::any_stepping(std::span<const core::ticket> which) const {
  return std::any_of(which.begin(), which.end(),
                     [this](const auto who) { return at(who).stepping; });
}

uint32_t orders::progress(core::ticket who, uint32_t steps_done) {
  const auto i = open_.find(who);
  if (i == open_.end() || steps_done <= i->second.what.steps_done)
    return 0;
  auto& x = i->second.what;
  x.steps_done = steps_done;
  const auto left =
    std::min(x.steps_left, x.steps - std::min(x.steps, steps_done));
  return std::exchange(x.steps_left, left) - left;
}

void orders::abandon(core::ticket who) {
  if (const auto i = open_.find(who); i != open_.end())
    i->second.what.side = true;
}

const dispatched* orders::find(core::ticket who) const {
  const auto i = open_.find(who);
  return i == open_.end() ? nullptr : &i->second.what;
}

bool orders::denoises(core::ticket who) const {
  const auto* of = find(who);
  return of != nullptr && of->phase == core::phase::denoising;
}

const dispatched& orders::at(core::ticket who) const {
  return open_.at(who).what;
}

core::timespan orders::work_of(std::span<const core::ticket> which) const {
  core::timespan sum{0};
  for (const auto who : which)
    sum += open_.at(who).times.work;
  return sum;
}

bool orders::empty() const {
  return open_.empty();
}

size_t orders::size() const {
  return open_.size();
}

void orders::renew(core::ticket who, core::time_point now) {
  const auto i = open_.find(who);
  if (i == open_.end())
    return;
  i->second.renewed = now;
  i->second.asked = false;
}

std::vector<core::ticket> orders::unanswered(core::time_point now) const {
  std::vector<core::ticket> out;
  for (const auto& [who, x] : open_)
    if (x.asked && now - x.renewed > x.times.patience)
      out.push_back(who);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<core::ticket> orders::overdue(core::time_point now) {
  std::vector<core::ticket> out;
  for (auto& [who, x] : open_)
    if (now - x.renewed > x.times.patience) {
      x.renewed = now;
      x.asked = true;
      out.push_back(who);
    }
  std::sort(out.begin(), out.end());
  return out;
}

bool orders::is_asked(core::ticket who) const {
  const auto i = open_.find(who);
  return i != open_.end() && i->second.asked;
}

} // namespace atelier::actors
