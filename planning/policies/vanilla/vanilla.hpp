// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policy.hpp>

#include <string_view>

namespace atelier::planning {

/// Answers every request in full on the variant it pins, otherwise on the first
/// of the profile: the baseline that approximates nothing. It does not count
/// capacity, so kinds of devices make no difference to it.
class vanilla : public policy {
public:
  std::string_view name() const override {
    return "vanilla";
  }

  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override;

  choice choose(const decision_context& by) const override;

  core::queue_id place(const leg& next,
                       const decision_context& by) const override;

  taken take(const worker_view& worker, std::span<const waiting> queue,
             const plan& in_force, core::time_point now) const override;
};

} // namespace atelier::planning
