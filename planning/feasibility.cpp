// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/feasibility.hpp>
#include <atelier/planning/step_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace atelier::planning {

namespace {

// Seconds of one picture of a stage on its quickest variant.
std::optional<double> seconds_of(const stage& s, const profile& known) {
  std::optional<double> least;
  for (const core::variant_id id : s.any_of) {
    if (id.value >= known.variants.size())
      continue;
    const variant_profile& v = known.variants[id.value];
    const uint32_t all = s.steps != 0 ? s.steps : v.steps;
    const uint32_t skip = s.from == origin::noise ? 0 : s.skip;
    double seconds = core::to_seconds(step_time(v, 1, v.native_px))
                     * (all > skip ? all - skip : 1)
                   + core::to_seconds(v.text + v.decode);
    if (s.check)
      for (const cascade_profile& c : known.cascades)
        if (c.light == id) {
          seconds += core::to_seconds(c.judging);
          break;
        }
    least = least ? std::min(*least, seconds) : seconds;
  }
  return least;
}

bool is_taken(const plan& made, size_t route) {
  return std::any_of(made.share.begin(), made.share.end(), [&](const auto& of) {
    return route < of.size() && of[route] > 0;
  });
}

} // namespace

plan judged(plan made, const profile& known) {
  if (known.cascades.empty() || made.feasible == feasibility::never)
    return made;
  const double deadline = core::to_seconds(known.cascades.front().deadline);
  if (!(deadline > 0))
    return made;
  const route* quickest = nullptr;
  double least = 0;
  for (size_t i = 0; i < made.routes.size(); ++i) {
    const route& r = made.routes[i];
    if (!is_taken(made, i))
      continue;
    // A picture that is kept already is there at once.
    if (r.stages.empty())
      return made;
    const auto seconds = seconds_of(r.stages.front(), known);
    if (!seconds || *seconds <= deadline)
      return made;
    if (quickest == nullptr || *seconds < least) {
      quickest = &r;
      least = *seconds;
    }
  }
  if (quickest == nullptr)
    return made;
  made.feasible = feasibility::never;
  made.reason = fmt::format(
    "deadline_ms {:.6g}: one picture by '{}', the quickest route of the plan, "
    "takes {:.6g} ms",
    1e3 * deadline, quickest->name, 1e3 * least);
  return made;
}

} // namespace atelier::planning
