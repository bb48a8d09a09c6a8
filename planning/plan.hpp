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

/// What operators said of variants, whatever policies plan.
struct hosting_wishes {
  /// A worker is to host it, where one has room beside what else it hosts.
  std::vector<core::variant_id> there;
  /// No worker is to host it until somebody asks for it.
  std::vector<core::variant_id> away;

  friend bool operator==(const hosting_wishes&,
                         const hosting_wishes&) = default;
};

/// Whether a plan answers all that is asked, in time.
enum class feasibility : uint8_t {
  /// Its policy does not look.
  unchecked,
  yes,
  /// Not all of it; `plan::reason` says why.
  no,
  /// Nothing at all, whatever the load: what is configured contradicts itself.
  never,
};

std::string_view to_string(feasibility x);

/// What one worker does under a plan.
struct assignment {
  core::worker_id worker;
  /// Empty: what it has, without those that leave.
  std::vector<core::variant_id> hosting;
  /// Variants that leave its memory as soon as no row runs with them.
  std::vector<core::variant_id> leaving = {};
  uint32_t batch = 1;
  uint32_t level = 0;
  joining join = joining::step;
  /// Lanes that it serves besides its own and those of its hosting.
  std::vector<core::lane_id> also_serves;
  /// What a batch of its hosting takes; 0: not planned with.
  core::timespan batch_time{0};

  friend bool operator==(const assignment&, const assignment&) = default;
};

/// What the planner publishes. Immutable once published.
struct plan {
  uint64_t version = 0;
  std::vector<assignment> workers;
  /// Indexed by route_id.
  std::vector<route> routes;
  /// share[class][route]: the part of each request class that takes each route.
  std::vector<std::vector<double>> share;
  std::vector<double> thresholds;
  /// By threshold: the share of images that its policy expects below it; empty
  /// where nobody said.
  std::vector<double> deferred;
  /// Admitted requests a second, by class; infinite: all; empty: no bound.
  std::vector<double> admitted_rates;
  bool saturated = false;
  feasibility feasible = feasibility::unchecked;
  /// What cannot be met, with its bound; empty where all can, or nobody looked.
  std::string reason;
  core::timespan retry_after{0};
  /// Between two searches that no request asks for, so that the policy learns
  /// how long retrieving takes; 0: none.
  core::timespan probe_every{0};
  /// Made in haste: a better one follows as soon as it is solved.
  bool provisional = false;
  /// It sees to what legs wait for: nobody need give them hosts besides. A
  /// worker runs rows of one variant at a time, and those of one variant share
  /// a worker where workers are short (grouping.hpp).
  bool grouped = false;
  hosting_wishes wishes = {};
  /// How often each variant is asked for, as far as hosting goes by it.
  popularity asked_for = {};
  /// What the policy that made it remembers.
  policy_memory memory;

  friend bool operator==(const plan&, const plan&) = default;
};

} // namespace atelier::planning
