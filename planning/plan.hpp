// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/demand/popularity.hpp>
#include <atelier/planning/joining.hpp>
#include <atelier/planning/policy_memory.hpp>
#include <atelier/planning/route.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::planning {

/// An operator's wish for a variant, whatever policies plan.
struct hosting_wishes {
  /// A worker hosts it in addition to its other variants, if one has room.
  std::vector<core::variant_id> there;
  /// No worker hosts it until a request needs it.
  std::vector<core::variant_id> away;

  friend bool operator==(const hosting_wishes&,
                         const hosting_wishes&) = default;
};

/// Whether a plan answers the whole demand in time.
enum class feasibility : uint8_t {
  /// The policy does not check this.
  unchecked,
  yes,
  /// The plan answers only a part; `plan::reason` says why.
  no,
  /// The plan cannot answer any request, whatever the load: the configuration
  /// contradicts itself.
  never,
};

std::string_view to_string(feasibility x);

/// One worker's part of a plan.
struct assignment {
  core::worker_id worker;
  /// Empty: its current variants, without those that leave.
  std::vector<core::variant_id> hosting;
  /// Variants that leave its memory as soon as no row runs with them.
  std::vector<core::variant_id> leaving = {};
  uint32_t batch = 1;
  uint32_t level = 0;
  joining join = joining::step;
  /// Queues that it serves in addition to its own and those of its hosting.
  std::vector<core::queue_id> also_serves;
  /// The duration of a batch of its hosting; 0: not planned.
  core::timespan batch_time{0};

  friend bool operator==(const assignment&, const assignment&) = default;
};

/// The planner's published decisions. Immutable once published.
struct plan {
  uint64_t version = 0;
  std::vector<assignment> workers;
  /// Indexed by route_id.
  std::vector<route> routes;
  /// share[class][route]: the part of each request class that takes each route.
  std::vector<std::vector<double>> share;
  std::vector<double> thresholds;
  /// By threshold: the share of images that the policy expects below it; empty
  /// if unknown.
  std::vector<double> deferred;
  /// Admitted requests a second, by class; infinite: all; empty: no limit.
  std::vector<double> admitted_rates;
  bool saturated = false;
  feasibility feasible = feasibility::unchecked;
  /// The unmet requirement with its limit; empty if all can be met, or the
  /// policy does not check.
  std::string reason;
  core::timespan retry_after{0};
  /// The interval of additional searches, by which the policy measures the
  /// duration of retrieval; 0: none.
  core::timespan probe_every{0};
  /// The plan is preliminary: a better one follows as soon as it is solved.
  bool provisional = false;
  /// The plan itself hosts the variants that legs wait for, so that no rule
  /// needs to add hosts. A worker runs rows of one model at a time, and rows of
  /// one model share a worker if workers are scarce (grouping.hpp).
  bool grouped = false;
  hosting_wishes wishes = {};
  /// The demand for each variant, as far as hosting depends on it.
  popularity asked_for = {};
  /// The memory of the policy that made it.
  policy_memory memory;

  friend bool operator==(const plan&, const plan&) = default;
};

} // namespace atelier::planning
