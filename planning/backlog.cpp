// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/backlog.hpp>
#include <atelier/planning/fair_shares.hpp>

#include <algorithm>
#include <numeric>
#include <set>

namespace atelier::planning {

namespace {

constexpr core::timespan least_wait = std::chrono::seconds{1};
constexpr core::timespan longest_wait = std::chrono::hours{1};

/// The bounds of a pace, and the weight of the newest steps.
constexpr double fastest = 1e-4;
constexpr double slowest = 1e4;
constexpr double newest_share = 0.1;

core::timespan times(core::timespan x, double by) {
  return core::from_seconds(core::to_seconds(x) * by);
}

} // namespace

backlog::backlog(size_t variants)
  : by_variant_(variants),
    of_tenants_(variants),
    group_of_(variants),
    groups_(variants),
    hosts_(variants) {
  std::iota(group_of_.begin(), group_of_.end(), size_t{0});
}

void backlog::see(const cluster_view& there) {
  std::iota(group_of_.begin(), group_of_.end(), size_t{0});
  // A tree in which each variant leads to the first one of its group.
  const auto root = [this](size_t x) {
    while (group_of_[x] != x)
      x = group_of_[x] = group_of_[group_of_[x]];
    return x;
  };
  for (const auto& w : there.workers)
    for (size_t i = 1; i < w.hosting.size(); ++i) {
      const auto a = root(w.hosting[i - 1].value);
      const auto b = root(w.hosting[i].value);
      group_of_[std::max(a, b)] = std::min(a, b);
    }
  groups_.assign(groups_.size(), group{});
  for (size_t v = 0; v < group_of_.size(); ++v) {
    group_of_[v] = root(v);
    groups_[group_of_[v]].work += by_variant_[v];
  }
  for (auto& hosts : hosts_)
    hosts.clear();
  for (const auto& w : there.workers)
    for (const auto v : w.hosting) {
      auto& hosts = hosts_[v.value];
      auto at = std::find_if(hosts.begin(), hosts.end(), [&](const auto& g) {
        return g.kind == w.device_kind;
      });
      if (at == hosts.end())
        at = hosts.insert(at, {w.device_kind, 0});
      ++at->count;
    }
  for (const auto& w : there.workers) {
    if (w.hosting.empty())
      continue;
    auto& g = groups_[group_of_[w.hosting.front().value]];
    g.max_batch = g.workers == 0 ? std::max(w.max_batch, 1u)
                                 : std::min(g.max_batch, w.max_batch);
    ++g.workers;
  }
}

void backlog::add(core::variant_id variant, core::timespan work,
                  core::tenant_id whose) {
  by_variant_[variant.value] += work;
  if (work > core::timespan{0})
    of_tenants_[variant.value][whose] += work;
  groups_[group_of_[variant.value]].work += work;
}

void backlog::remove(core::variant_id variant, core::timespan work,
                     core::tenant_id whose) {
  if (work == core::timespan{0})
    return;
  auto& tenants = of_tenants_[variant.value];
  const auto own = tenants.find(whose);
  ATELIER_EXPECTS(own != tenants.end() && own->second >= work,
                  "what is removed was added");
  own->second -= work;
  if (own->second == core::timespan{0})
    tenants.erase(own);
  by_variant_[variant.value] -= work;
  groups_[group_of_[variant.value]].work -= work;
}

std::optional<core::timespan> backlog::wait(core::variant_id variant) const {
  const auto& g = groups_[group_of_[variant.value]];
  if (g.workers == 0)
    return std::nullopt;
  return g.work / g.workers;
}

bool backlog::grants(core::variant_id variant, core::tenant_id whose,
                     core::timespan most) const {
  const auto competing = group_of_[variant.value];
  const auto workers = groups_[competing].workers;
  ATELIER_EXPECTS(workers > 0, "a worker hosts the variant");
  core::timespan own{0};
  std::set<core::tenant_id> tenants{whose};
  for (size_t v = 0; v < group_of_.size(); ++v)
    if (group_of_[v] == competing)
      for (const auto& [who, work] : of_tenants_[v]) {
        tenants.insert(who);
        if (who == whose)
          own += work;
      }
  const auto spread = [&](core::timespan work) {
    return static_cast<uint64_t>((work / workers).count());
  };
  return is_granted({static_cast<uint64_t>(most.count()),
                     spread(groups_[competing].work), spread(own), 0,
                     tenants.size()});
}

std::optional<core::timespan> backlog::longest_wait() const {
  std::optional<core::timespan> longest;
  for (const auto& g : groups_)
    if (g.workers > 0)
      longest = std::max(longest.value_or(core::timespan{0}),
                         core::timespan{g.work / g.workers});
  return longest;
}

const std::vector<device_group>& backlog::hosts_of(
  core::variant_id variant) const {
  return hosts_[variant.value];
}

uint32_t backlog::batch_of(core::variant_id variant) const {
  return std::max(groups_[group_of_[variant.value]].max_batch, 1u);
}

core::timespan backlog::work() const {
  return std::accumulate(by_variant_.begin(), by_variant_.end(),
                         core::timespan{0});
}

measured_pace::measured_pace(size_t variants) : any_(variants, 0.0) {}

void measured_pace::note(core::variant_id variant, std::string_view kind,
                         core::timespan predicted, core::timespan took) {
  if (predicted.count() <= 0 || took.count() <= 0)
    return;
  const auto now = std::clamp(
    core::to_seconds(took) / core::to_seconds(predicted), fastest, slowest);
  auto of = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& named) {
    return named.first == kind;
  });
  if (of == kinds_.end())
    of = kinds_.emplace(of, std::string{kind}, factors(any_.size(), 0.0));
  for (auto* x : {&any_[variant.value], &of->second[variant.value]})
    *x = *x > 0 ? *x + newest_share * (now - *x) : now;
}

bool measured_pace::known(core::variant_id variant) const {
  return any_[variant.value] > 0;
}

core::timespan measured_pace::corrected(core::variant_id variant,
                                        std::string_view kind,
                                        core::timespan x) const {
  for (const auto& [name, of] : kinds_)
    if (name == kind && of[variant.value] > 0)
      return times(x, of[variant.value]);
  return known(variant) ? times(x, any_[variant.value]) : x;
}

core::timespan device_work(const variant_profile& v, const step_table& steps,
                           const row_work& of, uint32_t steps_left,
                           uint32_t batch) {
  return time_beside_steps(v, of)
       + times(steps.at(batch, of.px),
               of.rows * static_cast<double>(steps_left) / batch);
}

core::timespan come_back_after(core::timespan wait, double share) {
  return std::clamp(times(wait, std::clamp(share, 0.0, 1.0)), least_wait,
                    longest_wait);
}

core::timespan predicted_completion(const variant_profile& v,
                                    const step_table& steps, const row_work& of,
                                    uint32_t steps_left,
                                    const worker_view& worker,
                                    core::timespan after) {
  const auto most = std::max(worker.max_batch, 1u);
  const auto taken = worker.seats_taken;
  const auto batch = std::min(most, taken + 1);
  // Nothing is known of the other rows' guidance.
  const auto step = steps.at_rows(batch - 1 + of.rows, of.px);
  core::timespan place{0};
  if (taken >= most) {
    // The rows ahead of it share their steps, one batch at a time.
    const auto ahead = static_cast<double>(worker.steps_left) / most;
    const auto before_it = static_cast<double>(taken - most + 1) / taken;
    place = times(step, ahead * before_it);
  }
  return place + steps_left * step + time_beside_steps(v, of) + after;
}

} // namespace atelier::planning
