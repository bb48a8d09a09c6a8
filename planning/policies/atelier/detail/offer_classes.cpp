// SPDX-License-Identifier: Apache-2.0
// This file chooses the classes of requests that a plan distinguishes.
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/policies/argus/argus_parts.hpp>
#include <atelier/planning/policies/atelier/detail/offer_builder.hpp>
#include <atelier/planning/policies/detail/common.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atelier::planning::unified {

void offer_builder::add_classes(const demand& asked) {
  class_map& map = out_.classes;
  std::vector<double> labels{1};
  for (const auto kind :
       {ladder_kind::smaller_models, ladder_kind::cached_latents})
    if (const auto* ladder = detail::ladder_of(known_, kind);
        ladder != nullptr && !ladder->levels.empty()) {
      map.ladder = static_cast<uint32_t>(detail::ladder_index(known_, kind));
      map.labels = static_cast<uint32_t>(ladder->levels.size());
      labels = detail::class_histogram(asked, map.ladder, *ladder);
    }
  std::vector<double> near{1};
  if (reuse_of(known_) != reuse_kind::none) {
    for (const skip_threshold& t : reuse_table(known_))
      map.skips.push_back(t.skip);
    near = shares_of_skips(asked);
  }
  const recent seen = recent_rate(asked.windows);
  out_.rate = seen.rate;
  out_.noise = seen.deviation;
  // The queue should be processed within a deadline, by variant if the variants
  // are known; running requests add no work.
  const double soon = std::max(detail::window_seconds(asked), deadline_);
  const bool told = !asked.waiting.empty();
  const double waits =
    static_cast<double>(told ? std::accumulate(asked.waiting.begin(),
                                               asked.waiting.end(), uint64_t{0})
                             : asked.backlog)
    / soon;
  // The headroom covers the usual queue; only a longer one counts in addition.
  const double spare = (rules_.head_room - 1) * out_.rate;
  const double more = std::max(waits - spare, 0.0);
  out_.spare = spare;
  double rate = out_.rate + spare + (told ? 0 : more);
  nobody_asks_ = !(rate > 0);
  if (nobody_asks_)
    rate = 1;
  const auto edits = edit_shares(asked);
  const double edited = std::accumulate(edits.begin(), edits.end(), 0.0);

  // The heaviest classes stay separate.
  const size_t skips = map.skips.size();
  map.of.assign(map.labels * skips, 0);
  std::vector<uint32_t> order(map.of.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto share = [&](uint32_t i) {
    return labels[i / skips] * near[i % skips];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return share(a) > share(b); });
  const size_t apart = order.size() + edits.size() <= most_classes
                       ? order.size()
                       : most_classes - 1 - edits.size();
  const auto add = [&](std::string name, double part) {
    out_.asked.classes.push_back({std::move(name), rate * part, 0, 1});
    return static_cast<uint32_t>(out_.asked.classes.size() - 1);
  };
  const auto add_plain = [&](std::string name, double part, uint32_t label,
                             uint32_t skip) {
    meaning_.emplace_back(label, skip);
    return add(std::move(name), part);
  };
  double rest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto label = static_cast<uint32_t>(order[i] / skips);
    const auto skip = static_cast<uint32_t>(order[i] % skips);
    if (i < apart)
      map.of[order[i]] = add_plain(
        fmt::format("level {}, {} steps near", label, map.skips[skip]),
        share(order[i]) * (1 - edited), label, map.skips[skip]);
    else
      rest += share(order[i]);
  }
  if (apart < order.size()) {
    // The merged class counts as one that tolerates nothing and has no matches.
    const uint32_t merged = add_plain("all others", rest * (1 - edited), 0, 0);
    for (size_t i = apart; i < order.size(); ++i)
      map.of[order[i]] = merged;
  }
  for (uint32_t b = 0; b < edits.size(); ++b)
    map.edits.push_back(
      add(fmt::format("edits of {}/{}", b + 1, edit_bins), edits[b]));
  waiting_.resize(known_.variants.size());
  for (size_t v = 0; v < std::min(asked.waiting.size(), waiting_.size()); ++v)
    if (asked.waiting[v] > 0 && more > 0) {
      waiting_[v] = static_cast<uint32_t>(out_.asked.classes.size());
      out_.asked.classes.push_back(
        {"waiting for " + known_.variants[v].name,
         static_cast<double>(asked.waiting[v]) / soon * more / waits, 0, 1});
    }
}

// Returns the fraction of requests by skip. Before the first search, all
// requests have matches if only the ladder limits the skip, and none has if
// similarity does.
std::vector<double> offer_builder::shares_of_skips(const demand& asked) const {
  const auto& skips = out_.classes.skips;
  std::vector<double> counts(skips.size(), 0.0);
  for (const demand_window& w : asked.windows)
    for (const auto& [skip, n] : w.allowed) {
      const auto above = std::upper_bound(skips.begin(), skips.end(), skip);
      counts[static_cast<size_t>(above - skips.begin()) - 1] +=
        static_cast<double>(n);
    }
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (sum > 0) {
    for (double& x : counts)
      x /= sum;
    return counts;
  }
  std::fill(counts.begin(), counts.end(), 0.0);
  const bool any = known_.reuse && !known_.reuse->latents.empty();
  (any || reuse_of(known_) == reuse_kind::images ? counts.front()
                                                 : counts.back()) = 1;
  return counts;
}

std::vector<double> offer_builder::edit_shares(const demand& asked) const {
  if (known_.masked.empty() || known_.edits_in_full)
    return {};
  std::vector<double> counts(edit_bins, 0.0);
  double arrived = 0;
  for (const demand_window& w : asked.windows) {
    arrived += static_cast<double>(w.arrived);
    for (size_t b = 0; b < std::min<size_t>(w.edits.size(), edit_bins); ++b)
      counts[b] += static_cast<double>(w.edits[b]);
  }
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (!(sum > 0))
    return {};
  for (double& x : counts)
    x /= std::max(arrived, sum);
  return counts;
}

uint32_t class_in(const class_map& map, uint32_t label, uint32_t skip) {
  label = std::min(label, map.labels - 1);
  const auto above = std::upper_bound(map.skips.begin(), map.skips.end(), skip);
  const auto at = static_cast<size_t>(above - map.skips.begin()) - 1;
  return map.of[label * map.skips.size() + at];
}

uint32_t edit_bin(double masked) {
  return static_cast<uint32_t>(
    std::clamp(std::floor(masked * edit_bins), 0.0, edit_bins - 1.0));
}

} // namespace atelier::planning::unified
