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

/// Workers that serve many models, each holding a few of them at a time.
struct farm {
  std::shared_ptr<const planning::profile> profile;
  /// Sorted by time. Each request names its variant.
  std::vector<planning::traced_arrival> requests;
  uint32_t workers = 8;
  /// Number of models that a worker holds at a time.
  uint32_t resident = 1;
  /// Largest number of rows in a batch.
  uint32_t max_batch = 8;
  uint64_t seed = 1;
  double deadline_seconds = 120;
};

/// The results of one run.
struct fared {
  uint64_t requests = 0;
  /// Requests that were not answered in time.
  uint64_t lost = 0;
  /// Mean latency. Each lost request counts as twice the deadline.
  double mean_seconds = 0;
  uint64_t loads = 0;
  /// Share of the workers' time, from the first request to the last answer,
  /// that they spent running or loading.
  double busy = 0;

  double lost_percent() const {
    return 100 * static_cast<double>(lost) / static_cast<double>(requests);
  }
};

/// Returns the profile of models that differ only in their names. One device
/// holds `resident` of them. 30 steps take 19, 21, 23 and 23 s for 1, 2, 4 and
/// 8 images. A load takes 22.7, 42.0 and 51.8 s at p50, p90 and p99. Source:
/// execution and load times of Alibaba's cluster trace v2026-GenAI.
planning::profile farm_profile(uint32_t models);

/// Sends each request on arrival to the worker that ends it first, behind the
/// work that the worker already has. The rule knows how long a load would take
/// on each worker. The worker evicts its least recently used model. Requests
/// that would be late are not started.
fared earliest_finish(const farm& x);

/// Sends each request to the worker that has its model and ends it first. If no
/// such worker ends it in time, the request goes to the worker of all that ends
/// it first. A tie goes to the worker whose least recently used model is the
/// oldest; that model is evicted. Requests that would be late are not started.
fared affinity(const farm& x);

/// Follows `affinity`, but evicts the model whose next request is the furthest
/// away. This rule needs to know the future, so no service could follow it. It
/// bounds the gain of a better eviction.
/// Source: L. A. Belady, A study of replacement algorithms, 1966.
fared clairvoyant(const farm& x);

/// Runs a policy in the simulator.
core::result<fared> simulated(const farm& x, std::string_view policy);

} // namespace atelier::bench
