// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/policies/atelier/solve.hpp>
#include <atelier/planning/policies/instgenie/instgenie.hpp>

#include <string_view>

namespace atelier::planning {

/// Returns options that take a few milliseconds at a thousand workers.
inline unified::solve_options quick_options() {
  unified::solve_options out;
  out.rounds = 2;
  out.gap = 0.02;
  return out;
}

/// The rules of the unified planner.
struct unified_rules {
  unified::offer_rules offers;
  unified::solve_options solver;
  /// The options after a worker's death or a jump in demand: fast rather than
  /// exact.
  unified::solve_options quick = quick_options();
  /// Counts of devices stay unless a change gains this fraction of the plan's
  /// quality in addition to the cost of its loads, and they stay for at least
  /// two periods.
  double least_gain = 0.005;
  /// The fraction of requests that search although no route would start from
  /// the result, so that the distribution of matches stays known.
  double blind_searches = 0.02;
  /// The number of searches in the demand's windows below which every request
  /// searches, as the distribution of matches is unknown.
  uint64_t least_searches = 50;
};

/// Plans over all routes together: variants, levels by cached latent and image,
/// cascades, masked edits; each on every kind of device, by its costs there.
class atelier_policy : public instgenie_policy {
public:
  atelier_policy() = default;

  explicit atelier_policy(unified_rules rules) : rules_(std::move(rules)) {}

  std::string_view name() const override {
    return "atelier";
  }

  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override;

  choice choose(const decision_context& by) const override;

  core::class_id admission_class(const core::request& wanted,
                                 const facts& known, const profile& costs,
                                 const plan& in_force) const override;

  plan_reasons explain(const plan& made) const override;

  compared compares(const profile& known) const override;

  std::string_view memory_name() const override;
  policy_memory kept(const policy_memory& all) const override;
  std::string save(const policy_memory& kept) const override;
  core::result<policy_memory> restore(const saved_memory& from) const override;
  bool may_take(core::route_id route, const policy_memory& kept) const override;

private:
  unified_rules rules_;
};

} // namespace atelier::planning
