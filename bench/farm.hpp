// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/planning/demand/trace.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace atelier::bench {

/// Workers that serve many models, of which each holds a few at a time.
struct farm {
  std::shared_ptr<const planning::profile> profile;
  /// By rising time; each names its variant.
  std::vector<planning::traced_arrival> requests;
  uint32_t workers = 8;
  /// Models that a worker holds at a time.
  uint32_t resident = 1;
  /// Rows of a batch at most.
  uint32_t max_batch = 8;
  uint64_t seed = 1;
  double deadline_seconds = 120;
};

/// How the requests fared.
struct fared {
  uint64_t requests = 0;
  /// Not answered in time.
  uint64_t lost = 0;
  /// Mean latency, each lost one counted as twice the deadline.
  double mean_seconds = 0;
  uint64_t loads = 0;
  /// Share of the workers' time, from the first request to the last answer, in
  /// which they ran or loaded something.
  double busy = 0;

  double lost_percent() const {
    return 100 * static_cast<double>(lost) / static_cast<double>(requests);
  }
};

/// Returns the profile of models that differ in their names alone: one device
/// holds `resident` of them. 30 steps take 19, 21, 23 and 23 s for 1, 2, 4 and
/// 8 images, a load 22.7, 42.0 and 51.8 s at p50, p90 and p99. Source:
/// execution and load times of Alibaba's cluster trace v2026-GenAI.
planning::profile farm_profile(uint32_t models);

/// Each request goes, when it comes, to the worker where it ends first, behind
/// what that has; the load time that it would cost there is known. A worker's
/// least recently used model leaves. What would be late is not
/// begun.
fared earliest_finish(const farm& x);

/// Each request goes to the worker that has its model and ends it first; where
/// none does in time, to the one of all that ends it first, of equal ones that
/// whose least recently used model is the oldest, and that model leaves. What
/// would be late is not begun.
fared affinity(const farm& x);

/// As `affinity`, with foresight: the model leaves that is asked for the latest
/// of all from then on. A bound for what eviction alone can gain, no rule that
/// a service could follow.
/// Source: L. A. Belady, A study of replacement algorithms, 1966.
fared clairvoyant(const farm& x);

/// Runs a policy in the simulator.
core::result<fared> simulated(const farm& x, std::string_view policy);

} // namespace atelier::bench
