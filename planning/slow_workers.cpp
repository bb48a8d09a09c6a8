// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/slow_workers.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace atelier::planning {

namespace {

constexpr size_t kept = 9;
constexpr size_t least_runs = 5;
/// The number of shapes that are kept; above it, the shape that ran longest ago
/// is removed.
constexpr size_t most_shapes = 64;
constexpr core::timespan least_gap = std::chrono::seconds{1};

/// Returns the median, the lower one of an even number: with two workers, the
/// faster one is the reference.
double lower_middle(std::vector<double> all) {
  const auto middle =
    all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

} // namespace

void slow_workers::ran(core::worker_id worker, const run_shape& what,
                       core::timespan step, core::time_point now) {
  if (step.count() <= 0)
    return;
  auto& all = seen_[what][worker];
  if (all.size() == kept)
    all.pop_front();
  all.push_back({now, core::to_seconds(step)});
  anew_ = true;
  if (seen_.size() <= most_shapes)
    return;
  const auto last = [](const auto& shape) {
    core::time_point latest{};
    for (const auto& [id, runs] : shape.second)
      latest = std::max(latest, runs.back().time);
    return latest;
  };
  seen_.erase(std::min_element(
    seen_.begin(), seen_.end(),
    [&](const auto& a, const auto& b) { return last(a) < last(b); }));
}

void slow_workers::gone(core::worker_id worker) {
  for (auto i = seen_.begin(); i != seen_.end();) {
    i->second.erase(worker);
    i = i->second.empty() ? seen_.erase(i) : std::next(i);
  }
  anew_ = true;
}

std::map<core::worker_id, std::vector<double>> slow_workers::compared(
  core::time_point now) {
  std::map<core::worker_id, std::vector<double>> out;
  for (auto shape = seen_.begin(); shape != seen_.end();) {
    std::vector<std::pair<core::worker_id, double>> took;
    auto& of = shape->second;
    for (auto i = of.begin(); i != of.end();) {
      auto& runs = i->second;
      while (!runs.empty() && now - runs.front().time > remembered)
        runs.pop_front();
      if (runs.size() >= least_runs) {
        std::vector<double> all;
        for (const sample& x : runs)
          all.push_back(x.seconds);
        took.emplace_back(i->first, lower_middle(std::move(all)));
      }
      i = runs.empty() ? of.erase(i) : std::next(i);
    }
    std::sort(took.begin(), took.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    for (size_t i = 0; i < took.size() && took.size() > 1; ++i) {
      // The median of the others.
      const size_t middle = (took.size() - 2) / 2;
      const auto& other = took[i <= middle ? middle + 1 : middle];
      out[took[i].first].push_back(took[i].second / other.second);
    }
    shape = of.empty() ? seen_.erase(shape) : std::next(shape);
  }
  return out;
}

std::optional<std::vector<core::worker_id>> slow_workers::news(
  core::time_point now) {
  // Time alone changes the result only if a worker is slow.
  if ((!anew_ && told_.empty()) || now - looked_ < least_gap)
    return std::nullopt;
  anew_ = false;
  looked_ = now;
  std::vector<core::worker_id> slow;
  for (auto& [worker, ratios] : compared(now)) {
    const bool was = std::binary_search(told_.begin(), told_.end(), worker);
    if (lower_middle(std::move(ratios)) >= (was ? slow_until : slow_from))
      slow.push_back(worker);
  }
  if (slow == told_)
    return std::nullopt;
  told_ = slow;
  return slow;
}

} // namespace atelier::planning
