// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/argus/argus.hpp>

#include <utility>
#include <vector>

namespace atelier::papers {

/// The differences between the policies that Argus is compared with. As they
/// stand, they make the policy of the rules from which this is derived.
struct argus_comparison_rules : planning::argus_rules {
  enum class workers_rule : uint8_t {
    /// The numbers that the rules above plan.
    planned,
    /// Every worker decides for itself.
    alone,
    /// All workers run the first, or the last level.
    first,
    last,
  };

  enum class classes_rule : uint8_t {
    /// The shift of the rules above.
    shifted,
    /// Every prompt runs on its predicted level, whatever the load.
    none,
    /// Levels are drawn by the load's shares, without a prediction.
    by_load,
  };

  workers_rule workers = workers_rule::planned;
  classes_rule classes = classes_rule::shifted;
  /// Levels of cached latents are also used.
  bool latents = true;
  /// The policy changes to smaller models when retrieval is slow, and back.
  bool changes = true;
  /// A request takes any worker of the level, instead of the one with the
  /// shortest wait.
  bool any_worker = false;
};

/// A policy that Argus is compared with.
class argus_comparison : public planning::argus_policy {
public:
  explicit argus_comparison(argus_comparison_rules rules)
    : argus_policy(rules), own_(std::move(rules)) {}

  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override;

  planning::choice choose(const planning::decision_context& by) const override;

  planning::compared compares(const planning::profile& known) const override;

  bool plan_due(
    const planning::plan& in_force,
    std::span<const planning::retrieval_sample> last) const override;

protected:
  core::result<planning::argus::allocation> allocate(
    const planning::argus::ladder& levels,
    const planning::argus::load_to_place& asked, bool pools) const override;

  planning::argus::shift_map shifted(
    std::span<const double> classes, std::span<const double> share,
    const planning::table& degradation) const override;

  size_t pick(std::span<const planning::argus::candidate> candidates,
              uint32_t level, core::philox& random) const override;

private:
  argus_comparison_rules own_;
};

/// Returns the rules of Argus' baselines `pac`, `proteus`, `sommelier`,
/// `clipper-heavy` and `clipper-light`, and, each lacking one part of
/// `argus-paper`, `argus-no-classifier`, `argus-no-shift` and
/// `argus-no-switch`.
std::vector<argus_comparison_rules> argus_comparisons();

} // namespace atelier::papers
