// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/hosts_of_waiting.hpp>
#include <atelier/planning/policy.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace atelier::planning {

namespace {

bool has(const std::vector<core::variant_id>& hosting, core::variant_id v) {
  return std::find(hosting.begin(), hosting.end(), v) != hosting.end();
}

bool is_waited_for(const demand& asked, core::variant_id v) {
  return v.value < asked.waiting_shared.size()
      && asked.waiting_shared[v.value] > 0;
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
    out.push_back(a == nullptr || a->hosting.empty() ? w.hosting : a->hosting);
  }
  return out;
}

bool serves(const plan& made, core::variant_id v) {
  return std::any_of(made.workers.begin(), made.workers.end(),
                     [&](const assignment& a) {
                       const auto& more = a.also_serves;
                       return std::find(more.begin(), more.end(), lane_of(v))
                           != more.end();
                     });
}

// What is lost with the worker at `i`: 2 the last host of what is waited for, 1
// the last one of something, 0 nothing.
int loss_of(const std::vector<std::vector<core::variant_id>>& hosting, size_t i,
            const demand& asked) {
  int worst = 0;
  for (const core::variant_id v : hosting[i]) {
    const auto hosts = std::count_if(hosting.begin(), hosting.end(),
                                     [&](const auto& x) { return has(x, v); });
    if (hosts == 1)
      worst = std::max(worst, is_waited_for(asked, v) ? 2 : 1);
  }
  return worst;
}

} // namespace

plan hosting_waiting(plan made, const demand& asked,
                     const cluster_view& there) {
  auto hosting = hosting_under(made, there);
  std::set<size_t> given;
  for (uint32_t i = 0; i < asked.waiting_shared.size(); ++i) {
    const core::variant_id v{i};
    const bool hosted =
      serves(made, v)
      || std::any_of(hosting.begin(), hosting.end(),
                  [&](const auto& x) { return has(x, v); });
    if (hosted || !is_waited_for(asked, v))
      continue;
    std::optional<size_t> best;
    std::tuple<int, bool> least{};
    for (size_t w = 0; w < hosting.size(); ++w) {
      if (given.count(w) != 0)
        continue;
      const std::tuple price{loss_of(hosting, w, asked),
                             !has(there.workers[w].hosting, v)};
      if (!best || price < least) {
        best = w;
        least = price;
      }
    }
    if (!best)
      break;
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
