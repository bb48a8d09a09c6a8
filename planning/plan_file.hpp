// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/plan.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::planning {

/// Most bytes of a plan file.
inline constexpr size_t most_plan_bytes = size_t{64} << 20;

/// Workers that do the same under a plan.
struct worker_group {
  uint32_t count = 1;
  /// Empty: what they have.
  std::vector<core::variant_id> hosting;
  uint32_t batch = 1;
  uint32_t level = 0;
  joining join = joining::step;
  /// Variants whose lanes they serve besides.
  std::vector<core::variant_id> also_serves;
  /// What a batch takes; 0: not planned with.
  core::timespan batch_time{0};

  friend bool operator==(const worker_group&, const worker_group&) = default;
};

/// What of a plan holds for any cluster at any time: neither which worker is
/// meant, nor what only the next plan would ask for.
struct saved_plan {
  /// The policy that made it, and by whose rules requests take its routes.
  std::string policy;
  std::vector<worker_group> workers;
  /// The first ones run the profile's variants, one each, in its order.
  std::vector<route> routes;
  /// share[class][route].
  std::vector<std::vector<double>> share;
  std::vector<double> thresholds;
  std::vector<double> admitted_rates;
  bool saturated = false;
  core::timespan retry_after{0};
  /// What choosing routes needs of it; the rest is as it is made.
  policy_memory memory;

  friend bool operator==(const saved_plan&, const saved_plan&) = default;
};

/// What a policy reads its memory from.
struct saved_memory {
  /// The object that policy::save wrote.
  std::string_view json;
  /// Begins each line of an error; then follows the field, as "memory.levels".
  std::string_view where;
  /// The plan, without the memory, and the profile that it is for.
  const saved_plan& of;
  const profile& known;
};

/// Returns what is kept of a plan; groups stand in the order of their first
/// workers. A memory that no policy, of `more` neither, has the name of is left
/// out.
saved_plan saved(const plan& of, std::string_view policy,
                 const policy_list& more = {});

/// Writes a plan as JSON, {"format": "atelier.plan", "version": 1, ...}, with
/// variants by name; docs/plan-file.md says what each field means.
/// @pre every number in it is finite and every variant in `known`
std::string to_json(const saved_plan& x, const profile& known,
                    const policy_list& more = {});

/// Reads what to_json writes, bit for bit; a field that may be absent has its
/// default. The policy that it names, and the one whose memory it has, is one
/// of all_policies or of `more`.
/// Errors: ec::bad_payload with every fault at once, a line each: `where`, the
///         place in the document, the value and what it must be.
core::result<saved_plan> parse_plan(std::string_view json,
                                    std::string_view where,
                                    const profile& known,
                                    const policy_list& more = {});

} // namespace atelier::planning
