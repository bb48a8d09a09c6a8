// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/plan.hpp>

#include <cstdint>
#include <vector>

namespace atelier::planning {

/// Limits admissions by the rates of a plan: each class of requests has a store
/// of admissions that fills at its rate, up to the arrivals of some seconds, so
/// that random bursts pass. Low priorities leave a part of it to higher ones. A
/// tenant below its share may overdraw it by as much as it can hold, whatever
/// the priority; all others then wait until it is paid back, so that the rate
/// holds.
/// Threads: one at a time.
class admission {
public:
  /// Whether a tenant uses less than its share of what was admitted.
  enum class claim : uint8_t { usual, below_share };

  /// Applies the rates of a plan. A class with rate 0 is still admitted a few
  /// times, so that the next plan sees its demand.
  void follow(const plan& in_force, core::time_point now);

  /// Admits a request of a class and returns 0, or returns the time after which
  /// it would be admitted if no other request arrived.
  core::timespan admit(core::class_id of, core::priority prio,
                       core::time_point now, claim whose = claim::usual);

private:
  struct store {
    /// Admissions a second.
    double rate = 0;
    /// Below 0: overdrawn.
    double left = 0;
    double most = 0;
  };

  void fill(core::time_point now);

  /// By class, or one for all; empty: no limit.
  std::vector<store> stores_;
  core::time_point filled_;
};

} // namespace atelier::planning
