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

/// Returns whether the client left the choice of variant and steps to the
/// policy, and sent no image.
bool leaves_choice(const core::request& wanted);

/// Returns whether a cached state or image may answer the request: it uses the
/// defaults, it may read the cache, and its result may depend on the cache's
/// contents.
bool may_reuse(const core::request& wanted);

/// Adds a route and returns its index.
uint32_t add_route(plan& to, route x);

/// Returns a leg on one variant, from noise.
leg leg_on(core::variant_id variant);

/// Returns the ladder of a kind and its index in the profile; null: none.
const ladder_profile* ladder_of(const profile& known, ladder_kind kind);
size_t ladder_index(const profile& known, ladder_kind kind);

/// Returns requests per second: a moving mean of arrivals and, if `drain` is
/// above 0, the backlog spread over `drain` seconds.
double rate_of(const demand& asked, double alpha, double drain);

/// Returns the seconds of the last window; a minute if no window exists.
double window_seconds(const demand& asked);

/// Returns requests per second: a mean over a long time plus, spread over
/// `drain` seconds, the requests that wait because every worker is occupied.
double rate_with_queue(const steady_rate& steady, const demand& asked,
                       size_t workers, double drain);

/// Returns the windows that end after `seen`.
std::span<const demand_window> windows_since(const demand& asked,
                                             core::time_point seen);

/// Returns the time when the last window ended; `before` if no window exists.
core::time_point last_end(const demand& asked, core::time_point before);

/// Returns the fraction of each class among the last thousand predictions of a
/// ladder. Without predictions, these are the training's fractions; if those
/// are also unknown, all requests are of class 0.
std::vector<double> class_histogram(const demand& asked, size_t ladder,
                                    const ladder_profile& of);

/// Returns whether a worker hosts a variant now.
bool hosts(const worker_view& w, core::variant_id variant);

/// Returns how many workers host a variant now. A variant without a worker gets
/// no requests: they would wait for the load.
uint32_t hosting_now(const cluster_view& there, core::variant_id variant);

/// Sets the hosting of workers so that the fewest load anything; surplus
/// workers keep their hosting. If the profile lists kinds of devices, a target
/// without a kind gets workers of each kind in the same proportion, since its
/// count assumes that all workers are alike (mean_over). Returns, by worker of
/// `there`, the index of its target.
std::vector<std::optional<uint32_t>> host(
  plan& next, const cluster_view& there,
  std::span<const hosting_target> targets, const profile& known);

} // namespace atelier::planning::detail
