// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace atelier::test {

/// Returns the point `seconds` after the clock's zero.
inline core::time_point at_s(int64_t seconds) {
  return core::time_point{std::chrono::seconds{seconds}};
}

/// Returns this run's generator for loop `i`.
inline core::philox random_of(uint64_t i) {
  return core::philox{seed(), core::purpose::test, core::request_id{i}};
}

/// Returns an entry that has waited since `since_s`.
inline planning::waiting waits(uint64_t request, int64_t since_s = 0,
                               core::priority prio = core::priority::normal,
                               core::time_point deadline = core::never) {
  planning::waiting entry;
  entry.request = core::request_id{request};
  entry.prio = prio;
  entry.since = at_s(since_s);
  entry.deadline = deadline;
  return entry;
}

/// Returns a profile of base@50, base@20 and turbo@1.
inline planning::profile three_variants() {
  planning::profile p;
  for (const auto& [model, steps] :
       {std::pair{"base", 50u}, {"base", 20u}, {"turbo", 1u}}) {
    planning::variant_profile v;
    v.model = model;
    v.name = v.model + "@" + std::to_string(steps);
    v.steps = steps;
    v.step = {{1, 512 * 512, std::chrono::milliseconds{10}}};
    p.variants.push_back(v);
  }
  return p;
}

} // namespace atelier::test
