// SPDX-License-Identifier: Apache-2.0
// needs:  only the request
// routes: one for each variant of the profile, one leg from noise, late: drop
// queues: one for each variant, shared by the workers that host it
// take:   free seats get the best rows first; rows that cannot end in time are
//         late
// memory: none
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::planning {

namespace {

using core::ec;

// Returns the pinned variant, otherwise the first.
core::result<core::variant_id> pinned(const core::pins& fixed,
                                      const profile& costs) {
  if (costs.variants.empty())
    return core::fail(ec::unavailable, "the profile has no variant");
  const auto known = [&](auto field) {
    std::vector<std::string> names;
    for (const variant_profile& v : costs.variants)
      if (std::find(names.begin(), names.end(), v.*field) == names.end())
        names.push_back(v.*field);
    return fmt::format("{}", fmt::join(names, ", "));
  };
  std::optional<core::variant_id> found{0};
  if (fixed.model) {
    found = find_variant(costs, *fixed.model);
    if (!found)
      return core::fail(ec::not_found,
                        "model: '{}' was not found; available: {}",
                        *fixed.model, known(&variant_profile::model));
  }
  if (!fixed.variant)
    return *found;
  const auto exact = find_variant(costs, *fixed.variant);
  if (!exact)
    return core::fail(ec::not_found,
                      "variant: '{}' was not found; available: {}",
                      *fixed.variant, known(&variant_profile::name));
  const std::string& model = costs.variants[found->value].model;
  if (fixed.model && costs.variants[exact->value].model != model)
    return core::fail(ec::invalid_argument,
                      "variant: '{}' is not of the model '{}'", *fixed.variant,
                      model);
  return *exact;
}

bool runs(const route& r, core::variant_id v) {
  if (r.legs.size() != 1)
    return false;
  const auto& variants = r.legs.front().any_of;
  return variants.size() == 1 && variants.front() == v;
}

} // namespace

plan vanilla::replan(const demand&, const profile& known,
                     const cluster_view& there, const plan& previous) const {
  plan next;
  next.version = previous.version + 1;
  for (const worker_view& w : there.workers) {
    assignment a;
    a.worker = w.worker;
    a.hosting = w.hosting;
    a.batch = std::max(w.max_batch, 1u);
    next.workers.push_back(std::move(a));
  }
  for (size_t i = 0; i < known.variants.size(); ++i) {
    leg whole;
    whole.any_of = {core::variant_id{static_cast<uint32_t>(i)}};
    route r;
    r.name = known.variants[i].name;
    r.legs.push_back(std::move(whole));
    next.routes.push_back(std::move(r));
  }
  if (!next.routes.empty()) {
    next.share.assign(1, std::vector<double>(next.routes.size(), 0.0));
    next.share[0][0] = 1;
  }
  return next;
}

choice vanilla::choose(const decision_context& by) const {
  const auto variant = pinned(by.wanted.fixed, by.costs);
  if (!variant) {
    const bool later = variant.why().code == ec::unavailable;
    return refuse{variant.why(),
                  later ? by.in_force.retry_after : core::timespan{0}};
  }
  // The plan may be older than the profile.
  const auto& routes = by.in_force.routes;
  size_t at = variant->value;
  if (at >= routes.size() || !runs(routes[at], *variant)) {
    const auto found =
      std::find_if(routes.begin(), routes.end(),
                   [&](const route& r) { return runs(r, *variant); });
    at = static_cast<size_t>(found - routes.begin());
  }
  if (at == routes.size())
    return refuse{core::fail(ec::unavailable,
                             "variant: '{}' is not in the plan yet",
                             by.costs.variants[variant->value].name),
                  by.in_force.retry_after};
  return go{core::route_id{static_cast<uint32_t>(at)}};
}

core::queue_id vanilla::place(const leg& next, const decision_context&) const {
  ATELIER_EXPECTS(!next.any_of.empty(), "a stage has a variant");
  return queue_of(next.any_of.front());
}

taken vanilla::take(const worker_view& worker, std::span<const waiting> queue,
                    const plan&, core::time_point now) const {
  taken some;
  for (const waiting& row : queue) {
    if (core::after(now, row.still_needs) > row.deadline)
      some.late.push_back(row.request);
    else if (some.join.size() < worker.seats_free)
      some.join.push_back(row.request);
  }
  return some;
}

} // namespace atelier::planning
