// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/demand/request_work.hpp>
#include <atelier/planning/row_work.hpp>

#include <algorithm>
#include <vector>

namespace atelier::planning {

namespace {

// A request is never less work than this fraction of its variant's usual image.
constexpr double least_part = 1e-3;

// Returns the sums by variant of what `of` counts in the windows.
std::vector<double> sums(std::span<const demand_window> windows,
                         std::vector<double> demand_window::*of,
                         size_t variants) {
  std::vector<double> out(variants, 0);
  for (const demand_window& w : windows)
    for (size_t v = 0; v < std::min(variants, (w.*of).size()); ++v)
      out[v] += (w.*of)[v];
  return out;
}

core::timespan times(core::timespan x, double factor) {
  return factor == 1 ? x : core::from_seconds(core::to_seconds(x) * factor);
}

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

double relative_pixels(const variant_profile& v, const core::request& wanted) {
  const auto own = v.native_px.pixels();
  return own == 0 ? 1
                  : static_cast<double>(drawn_px(v, wanted).pixels())
                      / static_cast<double>(own);
}

profile at_requested_work(profile known,
                          std::span<const demand_window> windows) {
  uint64_t arrived = 0;
  for (const demand_window& w : windows)
    arrived += w.arrived;
  if (arrived == 0)
    return known;
  const auto variants = known.variants.size();
  const auto work = sums(windows, &demand_window::extra_work, variants);
  const auto pixels = sums(windows, &demand_window::extra_pixels, variants);
  const auto factor = [&](double extra) {
    return std::max(1 + extra / static_cast<double>(arrived), least_part);
  };
  for (size_t v = 0; v < variants; ++v) {
    const auto scale = [&](running_costs& of) {
      for (step_cost& s : of.step)
        s.took = times(s.took, factor(work[v]));
      of.decode = times(of.decode, factor(pixels[v]));
      of.encode = times(of.encode, factor(pixels[v]));
    };
    scale(known.variants[v]);
    for (kind_profile& k : known.kinds)
      if (v < k.variants.size() && k.variants[v])
        scale(*k.variants[v]);
  }
  return known;
}

} // namespace atelier::planning
