// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/argus/argus_parts.hpp>
#include <atelier/planning/policies/detail/common.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace atelier::planning::detail {

using argus::level;

ladder_profile models_of(const profile& known) {
  if (const auto* own = ladder_of(known, ladder_kind::smaller_models))
    return *own;
  ladder_profile out;
  out.kind = ladder_kind::smaller_models;
  // Equal qualities without a number of images were not measured; the order in
  // the profile then ranks them.
  bool measured = true;
  const auto add = [&](core::variant_id v, double quality) {
    level_profile level;
    level.variant = v;
    measured = measured && known.variants[v.value].quality_images > 0;
    level.quality =
      out.levels.empty()
        ? quality
        : std::min(quality, (measured ? 1 : 0.99) * out.levels.back().quality);
    out.levels.push_back(std::move(level));
  };
  const auto own = [&](core::variant_id v) {
    return known.variants[v.value].quality;
  };
  if (!known.cascades.empty()) {
    const cascade_profile& c = known.cascades.front();
    add(c.heavy, own(c.heavy));
    // A lower FID is better.
    add(c.light, c.fid.size() < 2 || !(c.fid.back().second > 0)
                   ? own(c.light)
                   : own(c.heavy) * c.fid.front().second / c.fid.back().second);
  } else if (known.reuse && !known.reuse->small.empty()) {
    add(known.reuse->full, own(known.reuse->full));
    for (const core::variant_id v : known.reuse->small)
      add(v, own(v));
  }
  return out;
}

kept_ladder kept_of(const profile& known, const ladder_profile& of) {
  std::vector<level> all;
  const double retrieval =
    known.reuse ? core::to_seconds(known.reuse->retrieval) : 0;
  for (const level_profile& p : of.levels) {
    const variant_profile& v = known.variants[p.variant.value];
    level x;
    x.name = p.skip > 0 ? fmt::format("{}, K={}", v.name, p.skip) : v.name;
    x.variant = p.variant;
    x.skip = p.skip;
    x.seconds =
      argus::request_seconds(v, {}, p.skip) + (p.skip > 0 ? retrieval : 0);
    x.quality = p.quality;
    x.load_seconds = core::to_seconds(v.load);
    all.push_back(std::move(x));
  }
  kept_ladder out;
  out.levels = argus::without_dominated(all);
  for (const level& x : out.levels)
    out.index.push_back(static_cast<uint32_t>(
      std::find(all.begin(), all.end(), x) - all.begin()));
  return out;
}

size_t kept_class(const kept_ladder& of, uint32_t c) {
  size_t at = 0;
  while (at + 1 < of.index.size() && of.index[at + 1] <= c)
    ++at;
  return at;
}

table degradation_of_ladder(const ladder_profile& of, const kept_ladder& kept) {
  const size_t n = kept.levels.size();
  table d{n, n};
  const auto quality = [&](size_t at, size_t c) {
    const level_profile& p = of.levels[kept.index[at]];
    return p.class_quality.empty() ? p.quality : p.class_quality[kept.index[c]];
  };
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j)
      if (const double q = quality(i, i); q != 0)
        d.at(i, j) = std::max(0.0, q - quality(j, i)) / std::abs(q);
  return d;
}

argus::ladder with_fresh(argus::ladder levels, double fresh) {
  const level full = levels.front();
  for (level& v : levels) {
    v.seconds = (1 - fresh) * v.seconds + fresh * full.seconds;
    v.quality = (1 - fresh) * v.quality + fresh * full.quality;
  }
  return levels;
}

double fresh_share(const argus::ladder& levels,
                   const argus::load_to_place& load, double wanted) {
  const double fastest = levels.back().seconds;
  const double more = levels.front().seconds - fastest;
  if (!(more > 0) || !(load.rate > 0))
    return wanted;
  return std::clamp((load.workers / load.rate - fastest) / more, 0.0, wanted);
}

std::vector<uint32_t> hosting_levels(const cluster_view& there,
                                     const argus::ladder& levels) {
  std::vector<uint32_t> n(levels.size(), 0);
  for (const worker_view& w : there.workers)
    for (size_t v = 0; v < levels.size(); ++v)
      if (hosts(w, levels[v].variant)) {
        ++n[v];
        break;
      }
  return n;
}

std::vector<argus::worker_group> groups_of(const cluster_view& there,
                                           const argus::ladder& levels) {
  std::vector<argus::worker_group> out;
  for (const worker_view& w : there.workers) {
    std::vector<char> can;
    for (const level& v : levels)
      can.push_back(hosts(w, v.variant) ? 1 : 0);
    const auto same = std::find_if(out.begin(), out.end(),
                                   [&](const auto& g) { return g.can == can; });
    if (same != out.end())
      ++same->count;
    else
      out.push_back({1, std::move(can)});
  }
  return out;
}

std::vector<hosting_target> targets_of(const argus::ladder& levels,
                                       const std::vector<uint32_t>& counts,
                                       std::optional<core::variant_id> beside) {
  std::vector<hosting_target> out;
  for (size_t v = 0; v < levels.size(); ++v) {
    hosting_target t;
    t.hosting = {levels[v].variant};
    if (beside && *beside != levels[v].variant)
      t.hosting.push_back(*beside);
    t.count = v < counts.size() ? counts[v] : 0;
    out.push_back(std::move(t));
  }
  return out;
}

void set_levels(plan& next, const cluster_view& there,
                const argus::ladder& levels, std::vector<uint32_t> counts) {
  std::vector<size_t> others;
  for (size_t i = 0; i < there.workers.size(); ++i) {
    size_t v = 0;
    while (v < levels.size() && levels[v].skip != there.workers[i].level)
      ++v;
    if (v < levels.size() && counts[v] > 0) {
      --counts[v];
      next.workers[i].level = levels[v].skip;
    } else {
      others.push_back(i);
    }
  }
  size_t v = 0;
  for (const size_t i : others) {
    while (v + 1 < levels.size() && counts[v] == 0)
      ++v;
    counts[v] -= counts[v] > 0 ? 1u : 0u;
    next.workers[i].level = levels[v].skip;
  }
}

bool somebody_has(const cluster_view& there, const argus::ladder& levels,
                  const std::vector<double>& share) {
  for (size_t v = 0; v < levels.size(); ++v)
    if (share[v] > 0 && hosting_now(there, levels[v].variant) == 0)
      return false;
  return true;
}

bool all_host(const cluster_view& there, core::variant_id v) {
  return std::all_of(there.workers.begin(), there.workers.end(),
                     [&](const worker_view& w) { return hosts(w, v); });
}

bool all_as_planned(const cluster_view& there, const plan& previous) {
  for (const worker_view& w : there.workers)
    for (const assignment& a : previous.workers)
      if (a.worker == w.worker)
        for (const core::variant_id v : a.hosting)
          if (!hosts(w, v))
            return false;
  return true;
}

} // namespace atelier::planning::detail
