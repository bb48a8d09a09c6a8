// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace atelier::test {

/// The memory of turn_policy: the number of plans that it made.
struct turn_memory {
  static constexpr std::string_view name = "turns";

  uint64_t plans = 0;

  friend bool operator==(const turn_memory&, const turn_memory&) = default;
};

/// A policy of a host. While its memory comes back unchanged, every request
/// goes to the second variant, which vanilla never uses. Otherwise it goes to
/// the first variant. A prompt that begins with "throw" makes it throw.
class turn_policy : public planning::vanilla {
public:
  std::string_view name() const override {
    return "turns";
  }

  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override {
    if (plans_fail) {
      ++plans_failed;
      throw std::runtime_error("no plan today");
    }
    auto next = vanilla::replan(asked, known, there, previous);
    const auto* before = previous.memory.as<turn_memory>();
    next.memory = turn_memory{before != nullptr ? before->plans + 1 : 1};
    next.share.assign(1, std::vector<double>(next.routes.size(), 0.0));
    if (next.routes.size() > 1)
      next.share[0][1] = 1;
    return next;
  }

  planning::choice choose(const planning::decision_context& by) const override {
    ++chosen;
    if (by.wanted.text.positive.starts_with("throw"))
      throw 7;
    const auto* memory = by.in_force.memory.as<turn_memory>();
    const bool known =
      memory != nullptr && memory->plans == by.in_force.version;
    return planning::go{core::route_id{known ? 1u : 0u}};
  }

  core::queue_id place(const planning::leg& next,
                       const planning::decision_context& by) const override {
    if (by.wanted.text.positive.starts_with("misplace"))
      throw std::runtime_error("nowhere to go");
    return vanilla::place(next, by);
  }

  mutable std::atomic<uint64_t> chosen{0};
  mutable std::atomic<bool> plans_fail{false};
  mutable std::atomic<uint64_t> plans_failed{0};
};

} // namespace atelier::test
