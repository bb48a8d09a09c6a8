// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/diffserve/queueing.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace atelier::planning::diffserve {

double waiting_seconds(double waiting, double arrivals, uint32_t workers,
                       double throughput_of_one) {
  if (arrivals > 0)
    return std::max(waiting, 0.0) / arrivals;
  if (!(waiting > 0))
    return 0;
  const double served = workers * throughput_of_one;
  return served > 0 ? waiting / served
                    : std::numeric_limits<double>::infinity();
}

bool demand_jumped(double arrivals, double planned) {
  const double off = std::abs(arrivals - planned);
  return off > 0.25 * planned && off > 3 * std::sqrt(planned);
}

trial_batch with_period(trial_batch now, const leg_times& of, bool timed_out) {
  const auto& sizes = of.batches;
  if (timed_out) {
    // The result is the largest profiled size up to half the batch.
    uint32_t next = sizes.front().batch;
    for (const batch_time& b : sizes)
      if (b.batch <= now.batch / 2)
        next = b.batch;
    return {next};
  }
  for (const batch_time& b : sizes)
    if (b.batch > now.batch)
      return {b.batch};
  return {sizes.back().batch};
}

} // namespace atelier::planning::diffserve
