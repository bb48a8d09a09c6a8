// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/step_table.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace atelier::planning {

namespace {

// Returns null if the kind has no costs of the variant.
const running_costs* own_costs(const kind_profile* of,
                               core::variant_id variant) {
  if (of == nullptr || variant.value >= of->variants.size()
      || !of->variants[variant.value])
    return nullptr;
  return &*of->variants[variant.value];
}

const running_costs& costs_on(const profile& p, core::variant_id variant,
                              std::string_view kind) {
  const auto* own = own_costs(find_kind(p, kind), variant);
  return own != nullptr ? *own : p.variants.at(variant.value);
}

/// Devices of one kind, with their weight in a mean.
struct weighed {
  double devices = 0;
  running_costs costs;
};

std::vector<step_cost> mean_steps(std::span<const weighed> all) {
  std::set<std::pair<uint32_t, uint64_t>> points;
  std::vector<step_table> tables;
  for (const weighed& w : all) {
    tables.emplace_back(w.costs.step);
    for (const step_cost& s : w.costs.step)
      points.emplace(std::max(s.batch, 1u), std::max<uint64_t>(s.px, 1));
  }
  std::vector<step_cost> out;
  for (const auto& [batch, px] : points) {
    std::vector<device_time> took;
    for (size_t i = 0; i < all.size(); ++i)
      took.push_back({all[i].devices, tables[i].at(batch, px)});
    out.push_back({batch, px, mean_time(took), 0});
  }
  return out;
}

running_costs mean_costs(std::span<const weighed> all) {
  running_costs out = all.front().costs;
  out.step = mean_steps(all);
  const auto time = [&](core::timespan running_costs::*of) {
    std::vector<device_time> took;
    for (const weighed& w : all)
      took.push_back({w.devices, w.costs.*of});
    return mean_time(took);
  };
  out.text = time(&running_costs::text);
  out.decode = time(&running_costs::decode);
  out.encode = time(&running_costs::encode);
  out.loads.reset();
  double devices = 0;
  double load = 0;
  for (const weighed& w : all) {
    devices += w.devices;
    load += w.devices * core::to_seconds(w.costs.load);
    out.memory_bytes = std::max(out.memory_bytes, w.costs.memory_bytes);
    out.guessed = out.guessed || w.costs.guessed;
  }
  out.load = core::from_seconds(load / devices);
  return out;
}

} // namespace

const kind_profile* find_kind(const profile& p, std::string_view kind) {
  for (const kind_profile& k : p.kinds)
    if (k.kind == kind)
      return &k;
  return nullptr;
}

variant_profile on_kind(const profile& p, core::variant_id variant,
                        std::string_view kind) {
  variant_profile out = p.variants.at(variant.value);
  const auto* of = find_kind(p, kind);
  if (const auto* own = own_costs(of, variant))
    static_cast<running_costs&>(out) = *own;
  else if (of != nullptr)
    out.guessed = true;
  return out;
}

core::timespan load_on(const profile& p, core::variant_id variant,
                       std::string_view kind) {
  return costs_on(p, variant, kind).load;
}

uint64_t memory_on(const profile& p, core::variant_id variant,
                   std::string_view kind) {
  return costs_on(p, variant, kind).memory_bytes;
}

bool guessed_on(const profile& p, core::variant_id variant,
                std::string_view kind) {
  const auto* of = find_kind(p, kind);
  const auto* own = own_costs(of, variant);
  return own != nullptr ? own->guessed
                        : of != nullptr || p.variants.at(variant.value).guessed;
}

core::timespan judging_on(const profile& p, const cascade_profile& cascade,
                          std::string_view kind) {
  if (const auto* of = find_kind(p, kind))
    for (const auto& [judge, takes] : of->judging)
      if (judge == cascade.judge)
        return takes;
  return cascade.judging;
}

const masked_profile* masked_on(const profile& p, core::variant_id variant,
                                std::string_view kind) {
  const auto find = [&](const auto& all) -> const masked_profile* {
    for (const masked_profile& m : all)
      if (m.variant == variant)
        return &m;
    return nullptr;
  };
  if (const auto* of = find_kind(p, kind))
    if (const auto* own = find(of->masked))
      return own;
  return find(p.masked);
}

profile seen_on(profile p, std::string_view kind) {
  if (const auto* of = find_kind(p, kind)) {
    std::vector<variant_profile> variants;
    variants.reserve(p.variants.size());
    for (uint32_t i = 0; i < p.variants.size(); ++i)
      variants.push_back(on_kind(p, core::variant_id{i}, kind));
    for (cascade_profile& c : p.cascades)
      c.judging = judging_on(p, c, kind);
    for (masked_profile& m : p.masked)
      m = *masked_on(p, m.variant, kind);
    p.idle_watts = of->idle_watts;
    p.measured_with = of->measured_with;
    p.variants = std::move(variants);
  }
  p.kinds.clear();
  return p;
}

uint32_t largest_batch(const profile& p) {
  uint32_t most = 1;
  const auto look = [&](const running_costs& x) {
    for (const step_cost& s : x.step)
      most = std::max(most, s.batch);
  };
  for (const variant_profile& v : p.variants)
    look(v);
  for (const kind_profile& k : p.kinds)
    for (const auto& own : k.variants)
      if (own)
        look(*own);
  return most;
}

std::vector<device_group> groups_in(const cluster_view& there) {
  std::vector<device_group> out;
  for (const worker_view& w : there.workers) {
    auto at = std::find_if(out.begin(), out.end(), [&](const auto& g) {
      return g.kind == w.device_kind;
    });
    if (at == out.end())
      at = out.insert(at, {w.device_kind, 0});
    ++at->count;
  }
  return out;
}

const device_group* group_of(std::span<const device_group> groups,
                             uint32_t device) {
  for (const device_group& g : groups) {
    if (device < g.count)
      return &g;
    device -= g.count;
  }
  return nullptr;
}

core::timespan mean_time(std::span<const device_time> all) {
  double devices = 0;
  double rate = 0;
  for (const auto& [n, takes] : all) {
    if (takes.count() <= 0)
      return core::timespan{0};
    devices += n;
    rate += n / core::to_seconds(takes);
  }
  return core::from_seconds(devices / rate);
}

profile mean_over(profile p, std::span<const device_group> groups) {
  if (groups.empty() || p.kinds.empty())
    return p;
  std::vector<variant_profile> variants = p.variants;
  for (uint32_t i = 0; i < variants.size(); ++i) {
    std::vector<weighed> all;
    for (const device_group& g : groups)
      all.push_back({static_cast<double>(g.count),
                     on_kind(p, core::variant_id{i}, g.kind)});
    const bool alike = std::all_of(all.begin(), all.end(), [&](const auto& w) {
      return w.costs == all.front().costs;
    });
    static_cast<running_costs&>(variants[i]) =
      alike ? all.front().costs : mean_costs(all);
  }
  for (cascade_profile& c : p.cascades) {
    std::vector<device_time> took;
    for (const device_group& g : groups)
      took.push_back({static_cast<double>(g.count), judging_on(p, c, g.kind)});
    c.judging = mean_time(took);
  }
  p.variants = std::move(variants);
  return p;
}

kind_profile kind_from(const profile& p, std::string kind,
                       const profile& measured) {
  kind_profile out;
  out.kind = std::move(kind);
  out.idle_watts = measured.idle_watts;
  out.measured_with = measured.measured_with;
  for (const variant_profile& v : p.variants) {
    const auto own =
      std::find_if(measured.variants.begin(), measured.variants.end(),
                   [&](const variant_profile& m) { return m.name == v.name; });
    if (own == measured.variants.end())
      out.variants.emplace_back();
    else
      out.variants.emplace_back(*own);
  }
  for (const cascade_profile& c : measured.cascades)
    if (!c.judge.empty())
      out.judging.emplace_back(c.judge, c.judging);
  for (masked_profile m : measured.masked) {
    const auto& name = measured.variants.at(m.variant.value).name;
    for (uint32_t i = 0; i < p.variants.size(); ++i)
      if (p.variants[i].name == name) {
        m.variant = core::variant_id{i};
        out.masked.push_back(m);
      }
  }
  return out;
}

} // namespace atelier::planning
