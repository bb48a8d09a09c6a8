// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/plan.hpp>

#include <vector>

namespace atelier::planning {

/// Bounds what enters by the rates that a plan admits: for each class of
/// requests a store of admissions that fills at its rate, up to what comes in
/// some seconds, so that arrivals by chance pass. Low priorities leave a part
/// of it to higher ones.
/// Threads: one at a time.
class admission {
public:
  /// Takes over what a plan admits. A class for which it admits nothing is
  /// admitted a few times all the same, so that the next plan sees it.
  void follow(const plan& in_force, core::time_point now);

  /// Admits a request of a class, or returns after which time, above 0, one
  /// would be admitted if nobody else came. 0: it is admitted, and counted.
  core::timespan admit(core::class_id of, core::priority prio,
                       core::time_point now);

private:
  struct store {
    /// Admissions a second.
    double rate = 0;
    double left = 0;
    double most = 0;
  };

  void fill(core::time_point now);

  /// By class, or one for all; empty: no bound.
  std::vector<store> stores_;
  core::time_point filled_;
};

} // namespace atelier::planning
