// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/demand/estimators.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/solver/match_workers.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace atelier::planning::detail {

/// Whether the client left the choice of variant and steps to the policy, and
/// brought no image of its own.
bool leaves_choice(const core::request& wanted);

/// Whether a cached state or picture may answer it: made with the defaults, and
/// not bound to be the same whatever the cache holds.
bool may_reuse(const core::request& wanted);

/// Returns the index of the route that this adds.
uint32_t add_route(plan& to, route x);

/// Returns a leg on one variant, from noise.
leg leg_on(core::variant_id variant);

/// Returns the ladder of a kind and its index in the profile; null: none.
const ladder_profile* ladder_of(const profile& known, ladder_kind kind);
size_t ladder_index(const profile& known, ladder_kind kind);

/// Returns requests a second: a moving mean of arrivals and, where `drain`
/// seconds are above 0, the backlog over them.
double rate_of(const demand& asked, double alpha, double drain);

/// Seconds of the last window; a minute where there is none.
double window_seconds(const demand& asked);

/// Returns requests a second: a mean over long and, over `drain` seconds, those
/// that wait because every worker has one.
double rate_with_queue(const steady_rate& steady, const demand& asked,
                       size_t workers, double drain);

/// Returns the windows that end after `seen`.
std::span<const demand_window> windows_since(const demand& asked,
                                             core::time_point seen);

/// Returns when the last window ended; `before` where there is none.
core::time_point last_end(const demand& asked, core::time_point before);

/// Returns the share of each class among the last thousand predictions of a
/// ladder; where there are none, the training's; where those are unknown too,
/// all of class 0.
std::vector<double> class_histogram(const demand& asked, size_t ladder,
                                    const ladder_profile& of);

/// Whether a worker has a variant now.
bool hosts(const worker_view& w, core::variant_id variant);

/// Returns how many workers have a variant now. Nothing is routed to one that
/// nobody has yet: it would wait for the loading.
uint32_t hosting_now(const cluster_view& there, core::variant_id variant);

/// Sets what workers host so that the fewest load anything; workers that no
/// target wants keep their hosting. Where the profile lists kinds of devices, a
/// target that names none gets workers of each in the same proportion, as who
/// counts workers alike has counted (mean_over). Returns, by worker of `there`,
/// the index of its target.
std::vector<std::optional<uint32_t>> host(
  plan& next, const cluster_view& there,
  std::span<const hosting_target> targets, const profile& known);

} // namespace atelier::planning::detail
