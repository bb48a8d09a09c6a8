// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/runnable_route.hpp>

#include <algorithm>
#include <tuple>

namespace atelier::planning {

namespace {

bool can_run(const route& along, const core::request& wanted) {
  const auto is_able = [&](core::variant_id v) {
    return std::ranges::find(wanted.unable, v) == wanted.unable.end();
  };
  return std::ranges::all_of(along.legs, [&](const leg& x) {
    return std::ranges::all_of(x.any_of, is_able);
  });
}

bool begins_with_noise(const route& x) {
  return !x.legs.empty() && x.legs.front().from == origin::noise
      && !x.legs.front().any_of.empty();
}

double share_over_classes(const plan& of, size_t route) {
  double sum = 0;
  for (const auto& row : of.share)
    sum += route < row.size() ? row[route] : 0;
  return sum;
}

bool is_hosted(const cluster_view& there, core::variant_id variant) {
  return std::ranges::any_of(there.workers, [&](const worker_view& w) {
    return std::ranges::find(w.hosting, variant) != w.hosting.end();
  });
}

} // namespace

choice choose_runnable(const policy& rules, const decision_context& by) {
  auto made = rules.choose(by);
  const auto& routes = by.in_force.routes;
  const auto* way = std::get_if<go>(&made);
  if (way == nullptr || by.wanted.unable.empty()
      || way->route.value >= routes.size()
      || can_run(routes[way->route.value], by.wanted))
    return made;
  // A route's rank: its share, then whether it is hosted.
  std::optional<std::tuple<double, bool>> best;
  uint32_t at = 0;
  for (uint32_t i = 0; i < routes.size(); ++i) {
    if (!begins_with_noise(routes[i]) || !can_run(routes[i], by.wanted))
      continue;
    const std::tuple rank{
      share_over_classes(by.in_force, i),
      is_hosted(by.there, routes[i].legs.front().any_of.front())};
    if (!best || rank > *best) {
      best = rank;
      at = i;
    }
  }
  if (best)
    return go{core::route_id{at}, {}};
  return refuse{core::fail(core::ec::unavailable,
                           "no route of the plan in force can run the "
                           "request's values, as route '{}' cannot",
                           routes[way->route.value].name),
                by.in_force.retry_after};
}

} // namespace atelier::planning
