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

/// The maximum size of a plan file, in bytes.
inline constexpr size_t most_plan_bytes = size_t{64} << 20;

/// A group of workers with the same part of a plan.
struct worker_group {
  uint32_t count = 1;
  /// Empty: their current variants.
  std::vector<core::variant_id> hosting;
  uint32_t batch = 1;
  uint32_t level = 0;
  joining join = joining::step;
  /// Variants whose queues they also serve.
  std::vector<core::variant_id> also_serves;
  /// The duration of a batch; 0: not planned.
  core::timespan batch_time{0};

  friend bool operator==(const worker_group&, const worker_group&) = default;
};

/// The part of a plan that holds for any cluster at any time: it names no
/// particular worker, and has no facts that only the next plan needs.
struct saved_plan {
  /// The policy that made it, whose rules assign requests to its routes.
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
  /// The memory that choosing routes needs; it is stored unchanged.
  policy_memory memory;

  friend bool operator==(const saved_plan&, const saved_plan&) = default;
};

/// The input from which a policy reads its memory.
struct saved_memory {
  /// The object that policy::save wrote.
  std::string_view json;
  /// The start of each line of an error; the field follows, such as
  /// "memory.levels".
  std::string_view file;
  /// The plan without the memory, and its profile.
  const saved_plan& of;
  const profile& known;
};

/// Returns the durable part of a plan; groups are in the order of their first
/// workers. A memory is left out if no policy, including those of `more`, has
/// its name.
saved_plan saved(const plan& of, std::string_view policy,
                 const policy_list& more = {});

/// Writes a plan as JSON, {"format": "atelier.plan", "version": 1, ...}, with
/// variants by name; docs/plan-file.md explains each field.
/// @pre every number in it is finite and every variant in `known`
std::string to_json(const saved_plan& x, const profile& known,
                    const policy_list& more = {});

/// Reads the output of to_json, bit for bit; absent optional fields have their
/// defaults. The policy that it names, and the policy of its memory, are in
/// all_policies or in `more`.
/// Errors: ec::bad_payload with every fault at once, a line each: `where`, the
/// place in the document, the value and the allowed values.
core::result<saved_plan> parse_plan(std::string_view json,
                                    std::string_view where,
                                    const profile& known,
                                    const policy_list& more = {});

} // namespace atelier::planning
