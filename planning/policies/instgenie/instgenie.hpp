// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/instgenie/worker_choice.hpp>
#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// The differences between `instgenie` and `instgenie-paper`.
struct instgenie_rules {
  enum class worker_rule : uint8_t {
    /// The edit's own finish and the delay of the others, by rolling out the
    /// steps.
    finish,
    /// The next step's time (Algorithm 2), with blocks by the published plan
    /// (Algorithm 1).
    step,
  };

  std::string name = "instgenie";
  worker_rule workers = worker_rule::finish;
};

/// Sends edits to the worker where their mask costs least on its kind of
/// device; edits join the batch between steps. Derived policies choose the
/// worker by other rules: bench/papers has InstGenIE's baselines.
class instgenie_policy : public vanilla {
public:
  instgenie_policy() = default;

  explicit instgenie_policy(instgenie_rules rules) : rules_(std::move(rules)) {}

  std::string_view name() const override {
    return rules_.name;
  }

  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override;

  choice choose(const decision_context& by) const override;

  core::queue_id place(const leg& next,
                       const decision_context& by) const override;

protected:
  /// Returns the index of the worker for an edit, one of `workers`, which are
  /// not empty.
  virtual size_t pick(std::span<const instgenie::edit_worker> workers,
                      const instgenie::edit_row& edit,
                      const instgenie::step_model& seconds) const;

private:
  instgenie_rules rules_;
};

/// Returns the seconds of a step of a batch of edits, with the device's choice
/// of blocks.
instgenie::step_model edit_steps(const masked_profile& m);

/// Returns the rules of `instgenie` and `instgenie-paper`.
std::vector<instgenie_rules> all_instgenie_rules();

} // namespace atelier::planning
