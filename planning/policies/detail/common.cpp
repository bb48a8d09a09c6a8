// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/labels.hpp>
#include <atelier/planning/policies/detail/common.hpp>

#include <algorithm>
#include <numeric>

namespace atelier::planning::detail {

bool leaves_choice(const core::request& wanted) {
  const core::pins& p = wanted.fixed;
  return !wanted.source && !p.model && !p.variant && !p.steps && !p.level;
}

bool may_reuse(const core::request& wanted) {
  return leaves_choice(wanted) && core::reads(wanted.cache)
      && !wanted.deterministic && !asks_for_any(wanted.fixed);
}

uint32_t add_route(plan& to, route x) {
  to.routes.push_back(std::move(x));
  for (auto& row : to.share)
    row.resize(to.routes.size(), 0.0);
  return static_cast<uint32_t>(to.routes.size() - 1);
}

leg leg_on(core::variant_id variant) {
  leg s;
  s.any_of = {variant};
  return s;
}

const ladder_profile* ladder_of(const profile& known, ladder_kind kind) {
  const size_t at = ladder_index(known, kind);
  return at < known.ladders.size() ? &known.ladders[at] : nullptr;
}

size_t ladder_index(const profile& known, ladder_kind kind) {
  size_t at = 0;
  while (at < known.ladders.size() && known.ladders[at].kind != kind)
    ++at;
  return at;
}

double rate_of(const demand& asked, double alpha, double drain) {
  double rate = arrival_rate(asked.windows, alpha);
  if (drain > 0)
    rate += static_cast<double>(asked.backlog) / drain;
  return rate;
}

double rate_with_queue(const steady_rate& steady, const demand& asked,
                       size_t workers, double drain) {
  const double queue =
    asked.backlog > workers ? static_cast<double>(asked.backlog - workers) : 0;
  return steady.value() + queue / drain;
}

double window_seconds(const demand& asked) {
  const double seconds =
    asked.windows.empty() ? 0 : core::to_seconds(asked.windows.back().length);
  return seconds > 0 ? seconds : 60;
}

std::span<const demand_window> windows_since(const demand& asked,
                                             core::time_point seen) {
  size_t from = asked.windows.size();
  while (from > 0
         && core::after(asked.windows[from - 1].begin,
                        asked.windows[from - 1].length)
              > seen)
    --from;
  return std::span{asked.windows}.subspan(from);
}

core::time_point last_end(const demand& asked, core::time_point before) {
  if (asked.windows.empty())
    return before;
  const demand_window& w = asked.windows.back();
  return std::max(before, core::after(w.begin, w.length));
}

std::vector<double> class_histogram(const demand& asked, size_t ladder,
                                    const ladder_profile& of) {
  const size_t levels = of.levels.size();
  std::vector<double> counts(levels, 0.0);
  double left = argus::histogram_length;
  for (size_t w = asked.windows.size(); w-- > 0 && left > 0;) {
    const auto& all = asked.windows[w].predicted;
    if (ladder >= all.size())
      continue;
    const double here = static_cast<double>(
      std::accumulate(all[ladder].begin(), all[ladder].end(), uint64_t{0}));
    if (here <= 0)
      continue;
    // Only the missing part of the oldest window counts.
    const double part = std::min(1.0, left / here);
    for (size_t c = 0; c < all[ladder].size(); ++c)
      counts[std::min(c, levels - 1)] +=
        part * static_cast<double>(all[ladder][c]);
    left -= here;
  }
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (!(sum > 0))
    return argus::histogram({}, levels, of.class_shares);
  for (double& x : counts)
    x /= sum;
  return counts;
}

bool hosts(const worker_view& w, core::variant_id variant) {
  return std::find(w.hosting.begin(), w.hosting.end(), variant)
      != w.hosting.end();
}

uint32_t hosting_now(const cluster_view& there, core::variant_id variant) {
  return static_cast<uint32_t>(
    std::count_if(there.workers.begin(), there.workers.end(),
                  [&](const worker_view& w) { return hosts(w, variant); }));
}

namespace {

/// Targets that each name a kind of device, and the index of the target that
/// each is part of.
struct parted_targets {
  std::vector<hosting_target> parts;
  std::vector<uint32_t> whole;
};

// Gives each target the same fraction of the remaining devices of each kind as
// of all devices; the kinds that miss most get the remainder from rounding.
parted_targets in_proportion(std::span<const hosting_target> targets,
                             std::vector<device_group> left) {
  parted_targets out;
  const auto add = [&](uint32_t of, const std::string& kind, uint32_t count) {
    auto part = targets[of];
    part.device_kind = kind;
    part.count = count;
    out.parts.push_back(std::move(part));
    out.whole.push_back(of);
  };
  for (uint32_t t = 0; t < targets.size(); ++t) {
    if (!targets[t].device_kind.empty()) {
      add(t, targets[t].device_kind, targets[t].count);
      continue;
    }
    uint32_t all = 0;
    for (const device_group& g : left)
      all += g.count;
    const uint32_t wanted = std::min(targets[t].count, all);
    std::vector<uint32_t> given;
    std::vector<double> missing;
    uint32_t rest = wanted;
    for (const device_group& g : left) {
      const double share = all == 0 ? 0 : double{1} * wanted * g.count / all;
      given.push_back(static_cast<uint32_t>(share));
      missing.push_back(share - given.back());
      rest -= given.back();
    }
    for (; rest > 0; --rest) {
      const auto most = std::max_element(missing.begin(), missing.end());
      ++given[static_cast<size_t>(most - missing.begin())];
      *most -= 1;
    }
    for (size_t k = 0; k < left.size(); ++k) {
      left[k].count -= given[k];
      add(t, left[k].kind, given[k]);
    }
  }
  return out;
}

} // namespace

std::vector<std::optional<uint32_t>> host(
  plan& next, const cluster_view& there,
  std::span<const hosting_target> targets, const profile& known) {
  parted_targets parted;
  if (!known.kinds.empty()) {
    parted = in_proportion(targets, groups_in(there));
    targets = parted.parts;
  }
  auto found = match_workers(there.workers, targets, known);
  for (size_t i = 0; i < found.target.size() && i < next.workers.size(); ++i)
    if (found.target[i])
      next.workers[i].hosting = targets[*found.target[i]].hosting;
  if (!known.kinds.empty())
    for (auto& target : found.target)
      if (target)
        target = parted.whole[*target];
  return std::move(found.target);
}

} // namespace atelier::planning::detail
