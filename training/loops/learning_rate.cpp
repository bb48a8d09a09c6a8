// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/learning_rate.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace atelier::gpu {

namespace {

// A step counts in full up to this multiple of a usual step's time, and always
// up to this number of seconds.
constexpr double most_times = 10;
constexpr double always_seconds = 1;

// A usual step's time is a running mean over about this many steps.
constexpr double memory = 20;

} // namespace

double rate_at(const rate_plan& plan, uint64_t step, double share) {
  const auto rise =
    plan.warm_up_steps == 0
      ? 1.0
      : std::min(1.0, static_cast<double>(step + 1)
                        / static_cast<double>(plan.warm_up_steps));
  const auto past =
    std::clamp((share - plan.falls_from) / (1 - plan.falls_from), 0.0, 1.0);
  const auto fall = (1 + std::cos(std::numbers::pi * past)) / 2;
  return plan.highest * rise * (plan.last_share + (1 - plan.last_share) * fall);
}

double average_decay_at(double decay, uint64_t step) {
  const auto n = static_cast<double>(step);
  return std::min(decay, (1 + n) / (10 + n));
}

void busy_clock::add(double step_seconds) {
  const auto most =
    usual_ > 0 ? std::max(usual_ * most_times, always_seconds) : step_seconds;
  const auto counted =
    step_seconds > most ? std::max(usual_, 0.0) : step_seconds;
  usual_ += (counted - usual_) / (usual_ > 0 ? memory : 1);
  seconds_ += counted;
}

} // namespace atelier::gpu
