// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/allocation.hpp>
#include <atelier/planning/policies/diffserve/settled.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

struct diffserve_memory;

/// The differences between `diffserve` and `diffserve-paper`.
struct diffserve_rules {
  std::string name = "diffserve";
  /// The deferred fraction never exceeds the one with the best measured
  /// quality.
  bool quality_cap = true;
  /// Requests go directly to the heavy variant if all would be deferred.
  bool bypass = true;
  /// Workers keep their variants until moving them gains more than it costs.
  bool settles = true;
  /// A late request gets its light image.
  bool light_fallback = true;
  /// One queue for each worker, chosen at random.
  bool worker_queues = false;
  double provisioning = diffserve::generous_provisioning;
};

/// The facts from which one plan of a cascade is made.
struct cascade_case {
  /// The costs on a mean device.
  const profile& known;
  const cascade_profile& cascade;
  core::time_point now;
  /// Requests per second, without over-provisioning.
  double rate = 0;
  /// A window of the demand ended since the last plan.
  bool fresh = false;
  /// Requests of such a window were late.
  bool late = false;
  diffserve::cascade_problem problem = {};
};

/// The fractions of requests that only the light variant draws, that only the
/// heavy one draws, and that the cascade draws.
struct cascade_shares {
  double light = 0;
  double heavy = 0;
  double judged = 0;
};

/// Draws a light image for every request, judges it, and draws a heavy image if
/// it fails. Several kinds of devices are planned as the same number of mean
/// devices (mean_over), as the paper knows only one kind; the time of a batch,
/// which decides whether rows are late, is that of its worker's kind. Derived
/// policies change single steps of a plan: bench/papers has DiffServe's
/// baselines.
class diffserve_policy : public vanilla {
public:
  diffserve_policy() = default;

  explicit diffserve_policy(diffserve_rules rules) : rules_(std::move(rules)) {}

  std::string_view name() const override {
    return rules_.name;
  }

  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override;

  choice choose(const decision_context& by) const override;

  core::queue_id place(const leg& next,
                       const decision_context& by) const override;

  taken take(const worker_view& worker, std::span<const waiting> queue,
             const plan& in_force, core::time_point now) const override;

  plan_reasons explain(const plan& made) const override;

  std::string_view memory_name() const override;
  policy_memory kept(const policy_memory& all) const override;
  core::result<policy_memory> restore(const saved_memory& from) const override;

protected:
  /// Returns the name of the judge of light images.
  virtual std::string judge_of(const cascade_profile& of) const;

  /// Returns the deferred fraction by threshold.
  virtual diffserve::deferral_profile deferral(
    const cascade_profile& of, const diffserve::deferral_counts& seen) const;

  /// Returns the plan to follow, and remembers it if it is made from a demand.
  /// Without demand, the old plan stays.
  /// Errors: those of diffserve::allocate.
  virtual core::result<diffserve::cascade_plan> decide(
    const cascade_case& x, diffserve_memory& memory) const;

  /// Returns the plan for a demand above 0.
  /// Errors: those of diffserve::allocate.
  virtual core::result<diffserve::cascade_plan> planned(
    const cascade_case& x, diffserve_memory& memory) const;

  /// Returns the plan that `by` finds or, if workers keep their variants, the
  /// one for their current split.
  core::result<diffserve::cascade_plan> settled(diffserve::allocator by,
                                                const cascade_case& x,
                                                diffserve_memory& memory) const;

  /// Returns the shares of requests if both variants are hosted.
  virtual cascade_shares shares_of(const diffserve::cascade_plan& p) const;

  /// Returns whether plans say if the demand can be met.
  virtual bool tells_feasibility() const;

private:
  cascade_case case_of(const demand& asked, const profile& known,
                       const cluster_view& there,
                       diffserve_memory& memory) const;
  void add_cascade(plan& next, const cascade_case& x,
                   const diffserve::cascade_plan& p) const;
  void tell_capacity(plan& next, const cascade_case& x,
                     const diffserve::cascade_plan& p) const;

  diffserve_rules rules_;
};

/// Returns the rules of `diffserve` and `diffserve-paper`.
std::vector<diffserve_rules> all_diffserve_rules();

/// Returns the batches of a variant as measured at its native size, up to
/// `most_batch`, each with the text, decoding and judging of all its images.
diffserve::leg_times leg_of(const profile& known, core::variant_id variant,
                            uint32_t most_batch, core::timespan judging);

} // namespace atelier::planning
