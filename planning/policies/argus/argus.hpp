// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/argus/allocation.hpp>
#include <atelier/planning/policies/argus/shift.hpp>
#include <atelier/planning/policies/argus/worker_choice.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

struct argus_memory;

/// The differences between `argus` and `argus-paper`.
struct argus_rules {
  enum class allocation_rule : uint8_t {
    /// Any worker runs any level of cached latents; models have counts of
    /// workers.
    pooled,
    /// Eq. 1.
    counts,
  };

  enum class shift_rule : uint8_t {
    /// Predicted classes are mapped to the load's shares with the least
    /// degradation.
    exact,
    /// The same by the paper's Algorithm 1.
    published,
  };

  std::string name = "argus";
  allocation_rule allocate = allocation_rule::pooled;
  shift_rule shift = shift_rule::exact;
  /// One queue for each worker instead of one for each variant.
  bool worker_queues = false;
  argus::wait_rule wait = argus::wait_rule::with_own;
  /// Workers keep their models until moving them gains more than it costs.
  bool settles = true;
  /// The backlog counts as load, whose mean is then taken over a longer time.
  bool backlog = true;
  /// The load is multiplied by this factor: planning for full use of all
  /// workers missed 8.6 % of deadlines, this headroom 4.8 %.
  double head_room = 1.05;
  /// The fraction of requests that run in full, so that the cache gets new
  /// early states; it is smaller if the load leaves no time for that many.
  double fresh = 0.02;
};

/// Predicts levels, and reconciles them with the load by shares: with those of
/// cached latents while retrieval is fast, otherwise with smaller models.
/// Several kinds of devices are planned as the same number of mean devices
/// (mean_over), as the paper knows only one kind; the choice of a worker uses
/// the costs there. Derived policies change single steps of a plan or a choice:
/// bench/papers has Argus' baselines.
class argus_policy : public vanilla {
public:
  argus_policy() = default;

  explicit argus_policy(argus_rules rules) : rules_(std::move(rules)) {}

  std::string_view name() const override {
    return rules_.name;
  }

  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override;

  choice choose(const decision_context& by) const override;

  compared compares(const profile& known) const override;

  core::queue_id place(const leg& next,
                       const decision_context& by) const override;

  bool plan_due(const plan& in_force,
                std::span<const retrieval_sample> last) const override;

  std::string_view memory_name() const override;
  policy_memory kept(const policy_memory& all) const override;
  std::string save(const policy_memory& kept) const override;
  core::result<policy_memory> restore(const saved_memory& from) const override;

protected:
  /// Returns how many workers run each level, and their shares of the load.
  /// `pools`: any worker runs any level.
  /// Errors: those of argus::allocate_counts.
  virtual core::result<argus::allocation> allocate(
    const argus::ladder& levels, const argus::load_to_place& asked,
    bool pools) const;

  /// Returns how prompts of each predicted class run on the levels, given the
  /// fraction of each class, the share of the load of each level, and the loss
  /// of each class on each level.
  virtual argus::shift_map shifted(std::span<const double> classes,
                                   std::span<const double> share,
                                   const table& degradation) const;

  /// Returns the index of the worker for a request of that level, one of
  /// `candidates`, which are not empty.
  virtual size_t pick(std::span<const argus::candidate> candidates,
                      uint32_t level, core::philox& random) const;

private:
  struct level_case;

  level_case case_of(const demand& asked, const profile& known,
                     const cluster_view& there, const plan& previous,
                     argus_memory& memory) const;
  core::result<argus::allocation> allocate_for(const level_case& x,
                                               const plan& previous,
                                               argus_memory& memory) const;
  std::vector<double> host_levels(plan& next, const level_case& x,
                                  const argus::allocation& planned) const;
  void add_levels(plan& next, const level_case& x, argus_memory& memory) const;
  void share_levels(plan& next, const level_case& x,
                    std::span<const double> share,
                    const argus_memory& memory) const;

  argus_rules rules_;
};

/// Returns the rules of `argus` and `argus-paper`.
std::vector<argus_rules> all_argus_rules();

} // namespace atelier::planning
