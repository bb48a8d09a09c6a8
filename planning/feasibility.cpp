// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/feasibility.hpp>
#include <atelier/planning/kinds.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace atelier::planning {

namespace {

/// The earliest possible first image of a route.
struct first_image {
  double seconds = 0;
  std::string_view kind;
};

// The part of a worker's assignment that decides how long an image takes.
struct way_to_run {
  std::string_view kind;
  uint32_t batch = 1;
  uint32_t level = 0;
};

// Returns the seconds for one image of a leg on the fastest of `variants`, in
// full batches.
std::optional<double> seconds_of(const leg& s, const profile& known,
                                 std::span<const core::variant_id> variants,
                                 const way_to_run& how) {
  const auto kind = how.kind;
  std::optional<double> least;
  for (const core::variant_id id : variants) {
    if (id.value >= known.variants.size())
      continue;
    const auto v = on_kind(known, id, kind);
    const uint32_t all = s.steps != 0 ? s.steps : v.steps;
    const uint32_t skip = s.level_of_worker       ? how.level
                        : s.from == origin::noise ? 0
                                                  : s.skip;
    const uint32_t batch = std::max(how.batch, 1u);
    double seconds = core::to_seconds(step_time(v, batch, v.native_px)) / batch
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
    if (const auto seconds = seconds_of(s, known, s.any_of, {g.kind});
        seconds && (!best || *seconds < best->seconds))
      best = first_image{*seconds, g.kind};
  return best;
}

// Workers that run every leg alike.
struct workers_alike {
  // Empty: whatever a request needs.
  std::vector<core::variant_id> hosting;
  way_to_run how;
  double count = 0;
};

std::vector<workers_alike> alike(const plan& made, const cluster_view& there) {
  std::map<std::tuple<std::vector<core::variant_id>, std::string_view, uint32_t,
                      uint32_t>,
           double>
    counts;
  for (size_t i = 0; i < there.workers.size(); ++i) {
    const auto& w = there.workers[i];
    // A plan usually lists the workers in the cluster's order.
    const auto a =
      i < made.workers.size() && made.workers[i].worker == w.worker
        ? made.workers.begin() + static_cast<ptrdiff_t>(i)
        : std::ranges::find(made.workers, w.worker, &assignment::worker);
    const bool planned = a != made.workers.end();
    ++counts[{planned ? a->hosting : w.hosting, w.device_kind,
              planned ? a->batch : 1u, planned ? a->level : 0u}];
  }
  std::vector<workers_alike> out;
  for (const auto& [key, count] : counts) {
    const auto& [hosting, kind, batch, level] = key;
    out.push_back({hosting, {kind, batch, level}, count});
  }
  return out;
}

// A leg, and the legs of it for one request.
struct share_of_leg {
  const leg* of = nullptr;
  double images = 0;
};

std::vector<share_of_leg> legs_of(const plan& made, size_t of_class) {
  std::vector<share_of_leg> out;
  const auto& share = made.share[of_class];
  for (size_t r = 0; r < std::min(share.size(), made.routes.size()); ++r) {
    double images = share[r];
    for (const leg& s : made.routes[r].legs) {
      if (images > 0)
        out.push_back({&s, images});
      if (s.check)
        images *= s.check->threshold < made.deferred.size()
                  ? made.deferred[s.check->threshold]
                  : 0;
    }
  }
  return out;
}

// Returns the seconds of an image of the leg on such a worker, if it hosts a
// variant of the leg.
std::optional<double> seconds_on(const workers_alike& w, const leg& s,
                                 const profile& known) {
  std::vector<core::variant_id> both;
  for (const auto id : s.any_of)
    if (w.hosting.empty()
        || std::ranges::find(w.hosting, id) != w.hosting.end())
      both.push_back(id);
  return seconds_of(s, known, both, w.how);
}

// Returns the most requests a second of one class, by each leg alone and by all
// legs together.
double carried_by(std::span<const workers_alike> workers,
                  std::span<const share_of_leg> legs, const profile& known) {
  double least = std::numeric_limits<double>::infinity();
  double seconds_of_all = 0;
  for (const auto& [s, images] : legs) {
    double rate = 0;
    double quickest = std::numeric_limits<double>::infinity();
    for (const auto& w : workers)
      if (const auto seconds = seconds_on(w, *s, known); seconds) {
        rate += *seconds > 0 ? w.count / *seconds
                             : std::numeric_limits<double>::infinity();
        quickest = std::min(quickest, *seconds);
      }
    least = std::min(least, rate / images);
    seconds_of_all += images * quickest;
  }
  double all = 0;
  for (const auto& w : workers)
    all += w.count;
  return seconds_of_all > 0 ? std::min(least, all / seconds_of_all) : least;
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

double carried_rate(const plan& made, const profile& known,
                    const cluster_view& there) {
  const auto workers = alike(made, there);
  double most = 0;
  for (size_t c = 0; c < made.share.size(); ++c)
    most = std::max(most, carried_by(workers, legs_of(made, c), known));
  return made.share.empty() ? std::numeric_limits<double>::infinity() : most;
}

} // namespace atelier::planning
