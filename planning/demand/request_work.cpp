// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/demand/request_work.hpp>
#include <atelier/planning/row_work.hpp>

#include <algorithm>

namespace atelier::planning {

namespace {

// A request is never less work than this fraction of its variant's usual image.
constexpr double least_part = 1e-3;

} // namespace

bool has_own_work(const core::request& wanted) {
  return wanted.px.pixels() > 0 || wanted.fixed.steps || wanted.fixed.guidance
      || (wanted.source && wanted.fixed.strength);
}

double relative_work(const variant_table& x, const core::request& wanted) {
  const variant_profile& v = x.costs;
  const auto usual = x.steps.at(1, v.native_px);
  const auto own = core::to_seconds(usual) * v.steps;
  if (!(own > 0))
    return 1;
  auto runs = wanted.fixed.steps.value_or(v.steps);
  if (wanted.source && wanted.fixed.strength)
    runs = core::steps_of_share(wanted.fixed.sampler.value_or(v.sampler), runs,
                                *wanted.fixed.strength, wanted.strength_rule,
                                v.lcm_steps);
  const auto px = drawn_px(v, wanted);
  const auto step =
    x.steps.at_rows(rows_at(v, wanted.fixed.guidance.value_or(v.guidance)), px);
  return core::to_seconds(step) * runs / own;
}

profile at_requested_work(profile known,
                          std::span<const demand_window> windows) {
  uint64_t arrived = 0;
  std::vector<double> extra(known.variants.size(), 0);
  for (const demand_window& w : windows) {
    arrived += w.arrived;
    for (size_t v = 0; v < std::min(extra.size(), w.extra_work.size()); ++v)
      extra[v] += w.extra_work[v];
  }
  if (arrived == 0)
    return known;
  for (size_t v = 0; v < extra.size(); ++v) {
    if (extra[v] == 0)
      continue;
    const double factor =
      std::max(1 + extra[v] / static_cast<double>(arrived), least_part);
    const auto scale = [&](running_costs& of) {
      for (step_cost& s : of.step)
        s.took = core::from_seconds(core::to_seconds(s.took) * factor);
    };
    scale(known.variants[v]);
    for (kind_profile& k : known.kinds)
      if (v < k.variants.size() && k.variants[v])
        scale(*k.variants[v]);
  }
  return known;
}

} // namespace atelier::planning
