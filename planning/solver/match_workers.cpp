// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/solver/match_workers.hpp>
#include <atelier/planning/solver/transport.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace atelier::planning {

namespace {

using variants = std::vector<core::variant_id>;

// Returns the seconds that a device of this kind loads to host `wanted` if
// `there` is resident; none: it loads nothing.
std::optional<double> loading(std::string_view kind, const variants& there,
                              const variants& wanted, const profile& known) {
  std::optional<double> sum;
  for (const core::variant_id v : wanted)
    if (std::find(there.begin(), there.end(), v) == there.end()) {
      ATELIER_EXPECTS(v.value < known.variants.size(),
                      "the profile knows the variant");
      sum = sum.value_or(0) + core::to_seconds(load_on(known, v, kind));
    }
  return sum;
}

} // namespace

worker_match match_workers(std::span<const worker_view> workers,
                           std::span<const hosting_target> targets,
                           const profile& known) {
  // Workers of one kind that host the same variants are one source.
  std::map<std::pair<std::string, variants>, std::vector<size_t>> groups;
  for (size_t i = 0; i < workers.size(); ++i) {
    variants hosted = workers[i].hosting;
    std::sort(hosted.begin(), hosted.end());
    hosted.erase(std::unique(hosted.begin(), hosted.end()), hosted.end());
    groups[{workers[i].device_kind, std::move(hosted)}].push_back(i);
  }
  std::vector<int64_t> supply;
  std::vector<int64_t> need;
  supply.reserve(groups.size());
  need.reserve(targets.size());
  for (const auto& [what, members] : groups)
    supply.push_back(static_cast<int64_t>(members.size()));
  for (const hosting_target& t : targets)
    need.push_back(t.count);

  table costs{groups.size(), targets.size()};
  double longest = 0;
  size_t g = 0;
  for (const auto& [what, members] : groups) {
    for (size_t t = 0; t < targets.size(); ++t) {
      const auto load =
        loading(what.first, what.second, targets[t].hosting, known);
      const bool of_kind =
        targets[t].device_kind.empty() || targets[t].device_kind == what.first;
      costs.at(g, t) =
        of_kind ? load.value_or(-1) : std::numeric_limits<double>::infinity();
      longest = std::max(longest, load.value_or(0));
    }
    ++g;
  }
  // One move outweighs the sum of all load times.
  const double share = 0.5 / (1 + longest)
                     / static_cast<double>(std::max<size_t>(workers.size(), 1));
  for (double& cell : costs.cells)
    cell = cell < 0 ? 0 : 1 + cell * share;

  const auto moved = transport(supply, need, costs);
  worker_match out;
  out.target.resize(workers.size());
  out.missing.assign(targets.size(), 0);
  g = 0;
  for (const auto& [what, members] : groups) {
    std::vector<size_t> by_load = members;
    std::stable_sort(by_load.begin(), by_load.end(), [&](size_t a, size_t b) {
      return workers[a].steps_left > workers[b].steps_left;
    });
    std::vector<size_t> order(targets.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return costs.at(g, a) < costs.at(g, b);
    });
    auto next = by_load.begin();
    for (const size_t t : order)
      for (int64_t n = moved[g][t]; n > 0; --n, ++next) {
        out.target[*next] = static_cast<uint32_t>(t);
        const auto load =
          loading(what.first, what.second, targets[t].hosting, known);
        out.moves += load ? 1u : 0u;
        out.load_seconds += load.value_or(0);
      }
    ++g;
  }
  for (size_t t = 0; t < targets.size(); ++t) {
    int64_t given = 0;
    for (const auto& row : moved)
      given += row[t];
    out.missing[t] = static_cast<uint32_t>(need[t] - given);
  }
  return out;
}

} // namespace atelier::planning
