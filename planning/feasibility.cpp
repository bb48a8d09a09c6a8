// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/feasibility.hpp>
#include <atelier/planning/kinds.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace atelier::planning {

namespace {

/// The earliest possible first image of a route.
struct first_image {
  double seconds = 0;
  std::string_view kind;
};

// Returns the seconds for one image of a leg on its fastest variant.
std::optional<double> seconds_of(const leg& s, const profile& known,
                                 std::string_view kind) {
  std::optional<double> least;
  for (const core::variant_id id : s.any_of) {
    if (id.value >= known.variants.size())
      continue;
    const auto v = on_kind(known, id, kind);
    const uint32_t all = s.steps != 0 ? s.steps : v.steps;
    const uint32_t skip = s.from == origin::noise ? 0 : s.skip;
    double seconds = core::to_seconds(step_time(v, 1, v.native_px))
                     * (all > skip ? all - skip : 1)
                   + core::to_seconds(v.text + v.decode);
    if (s.check)
      for (const cascade_profile& c : known.cascades)
        if (c.light == id) {
          seconds += core::to_seconds(judging_on(known, c, kind));
          break;
        }
    least = least ? std::min(*least, seconds) : seconds;
  }
  return least;
}

std::optional<first_image> quickest_of(const leg& s, const profile& known,
                                       std::span<const device_group> groups) {
  std::optional<first_image> best;
  for (const device_group& g : groups)
    if (const auto seconds = seconds_of(s, known, g.kind);
        seconds && (!best || *seconds < best->seconds))
      best = first_image{*seconds, g.kind};
  return best;
}

bool is_taken(const plan& made, size_t route) {
  return std::any_of(made.share.begin(), made.share.end(), [&](const auto& of) {
    return route < of.size() && of[route] > 0;
  });
}

} // namespace

plan judged(plan made, const profile& known, const cluster_view& there) {
  if (known.cascades.empty() || made.feasible == feasibility::never)
    return made;
  const double deadline = core::to_seconds(known.cascades.front().deadline);
  if (!(deadline > 0))
    return made;
  auto groups = groups_in(there);
  if (groups.empty())
    groups.emplace_back();
  const route* quickest = nullptr;
  first_image least;
  for (size_t i = 0; i < made.routes.size(); ++i) {
    const route& r = made.routes[i];
    if (!is_taken(made, i))
      continue;
    // A stored image is available at once.
    if (r.legs.empty())
      return made;
    const auto first = quickest_of(r.legs.front(), known, groups);
    if (!first || first->seconds <= deadline)
      return made;
    if (quickest == nullptr || first->seconds < least.seconds) {
      quickest = &r;
      least = *first;
    }
  }
  if (quickest == nullptr)
    return made;
  made.feasible = feasibility::never;
  made.reason = fmt::format(
    "deadline_ms {:.6g}: one image by '{}', the quickest route of the plan, "
    "takes {:.6g} ms{}",
    1e3 * deadline, quickest->name, 1e3 * least.seconds,
    known.kinds.empty() ? "" : fmt::format(" on '{}'", least.kind));
  return made;
}

} // namespace atelier::planning
