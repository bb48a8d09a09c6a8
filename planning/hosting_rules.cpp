// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/hosting_rules.hpp>
#include <atelier/planning/policy.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace atelier::planning {

namespace {

bool has(const std::vector<core::variant_id>& hosting, core::variant_id v) {
  return std::find(hosting.begin(), hosting.end(), v) != hosting.end();
}

/// How many stages wait, by variant, for all its hosts.
std::vector<uint64_t> waiting_for(const demand& asked,
                                  const cluster_view& there) {
  auto out = asked.waiting_shared;
  for (const core::variant_id v : there.unhosted) {
    if (out.size() <= v.value)
      out.resize(v.value + 1, 0);
    out[v.value] = std::max<uint64_t>(out[v.value], 1);
  }
  return out;
}

bool may_host(const worker_view& w,
              const std::vector<core::variant_id>& hosting,
              const profile& known) {
  uint64_t bytes = 0;
  std::set<std::pair<std::string, core::dtype>> models;
  for (const core::variant_id v : hosting) {
    if (!w.may_host.empty() && !has(w.may_host, v))
      return false;
    const variant_profile& x = known.variants.at(v.value);
    if (models.emplace(x.model, x.precision).second)
      bytes += x.memory_bytes;
  }
  return w.memory_bytes == 0 || bytes <= w.memory_bytes;
}

assignment* assignment_of(plan& of, core::worker_id worker) {
  const auto i =
    std::find_if(of.workers.begin(), of.workers.end(),
                 [&](const assignment& a) { return a.worker == worker; });
  return i == of.workers.end() ? nullptr : &*i;
}

// What each worker of `there` will host: what nobody plans stays.
std::vector<std::vector<core::variant_id>> hosting_under(
  plan& made, const cluster_view& there) {
  std::vector<std::vector<core::variant_id>> out;
  for (const worker_view& w : there.workers) {
    const assignment* a = assignment_of(made, w.worker);
    out.push_back(a != nullptr && !a->hosting.empty() ? a->hosting
                  : w.becoming.empty()                ? w.hosting
                                                      : w.becoming);
  }
  return out;
}

bool serves(const plan& made, core::variant_id v) {
  return std::any_of(
    made.workers.begin(), made.workers.end(), [&](const assignment& a) {
      const auto& more = a.also_serves;
      return std::find(more.begin(), more.end(), lane_of(v)) != more.end();
    });
}

// What is lost with the worker at `i`: 2 the last host of what is waited for, 1
// the last one of something, 0 nothing.
int loss_of(const std::vector<std::vector<core::variant_id>>& hosting, size_t i,
            const std::vector<uint64_t>& waiting) {
  int worst = 0;
  for (const core::variant_id v : hosting[i]) {
    const auto hosts = std::count_if(hosting.begin(), hosting.end(),
                                     [&](const auto& x) { return has(x, v); });
    if (hosts == 1)
      worst = std::max(
        worst, v.value < waiting.size() && waiting[v.value] > 0 ? 2 : 1);
  }
  return worst;
}

} // namespace

plan only_possible(plan made, const profile& known, const cluster_view& there) {
  for (assignment& a : made.workers) {
    const auto w =
      std::find_if(there.workers.begin(), there.workers.end(),
                   [&](const worker_view& x) { return x.worker == a.worker; });
    if (w == there.workers.end() || may_host(*w, a.hosting, known))
      continue;
    a.hosting.clear();
    a.level = 0;
    a.also_serves.clear();
    a.batch_time = core::timespan{0};
  }
  return made;
}

plan hosting_waiting(plan made, const demand& asked, const profile& known,
                     const cluster_view& there) {
  const auto waiting = waiting_for(asked, there);
  auto hosting = hosting_under(made, there);
  std::set<size_t> given;
  // Those that were told as waiting the longest, then all that wait.
  auto order = there.unhosted;
  for (uint32_t i = 0; i < waiting.size(); ++i)
    order.push_back(core::variant_id{i});
  for (const core::variant_id v : order) {
    const bool hosted = serves(made, v)
                     || std::any_of(hosting.begin(), hosting.end(),
                                    [&](const auto& x) { return has(x, v); });
    if (hosted || waiting[v.value] == 0)
      continue;
    std::optional<size_t> best;
    std::tuple<int, bool> least{};
    for (size_t w = 0; w < hosting.size(); ++w) {
      if (given.count(w) != 0 || !may_host(there.workers[w], {v}, known))
        continue;
      const std::tuple price{loss_of(hosting, w, waiting),
                             !has(there.workers[w].hosting, v)};
      if (!best || price < least) {
        best = w;
        least = price;
      }
    }
    if (!best)
      continue;
    given.insert(*best);
    hosting[*best] = {v};
    const core::worker_id who = there.workers[*best].worker;
    assignment* a = assignment_of(made, who);
    if (a == nullptr) {
      a = &made.workers.emplace_back();
      a->worker = who;
    }
    a->hosting = {v};
    a->level = 0;
    a->also_serves.clear();
    a->batch_time = core::timespan{0};
  }
  return made;
}

} // namespace atelier::planning
