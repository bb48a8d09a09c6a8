// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/policies/diffserve_allocations.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::papers {

using namespace planning::diffserve;

core::result<cascade_plan> allocate_random(const cascade_problem& asked) {
  // The errors are those of the cascade's plan.
  cascade_problem any = asked;
  any.light_workers.reset();
  if (auto ok = allocate(any); !ok)
    return ok;
  const uint32_t b1 = best_batch_within(asked.light, asked.slo / 2);
  const uint32_t b2 = best_batch_within(asked.heavy, asked.slo / 2);
  const double t1 = b1 > 0 ? throughput(asked.light, b1) : 0;
  const double t2 = b2 > 0 ? throughput(asked.heavy, b2) : 0;
  cascade_plan best;
  best.light = asked.workers;
  best.light_batch = std::max(b1, asked.light.batches.front().batch);
  best.heavy_batch = std::max(b2, asked.heavy.batches.front().batch);
  best.step = cascade_step::shedding;
  best.admitted = asked.workers * (t1 > 0 ? t1 : throughput(asked.light, 1));
  double most = -1;
  for (uint32_t x2 = 0; x2 <= asked.workers; ++x2) {
    const double light = (asked.workers - x2) * t1;
    const double share = asked.demand > 0
                         ? std::min(1.0, x2 * t2 / asked.demand)
                         : (x2 > 0 ? 1.0 : 0.0);
    if (light + 1e-9 < asked.demand * (1 - share) || share <= most
        || asked.light_workers.value_or(asked.workers - x2)
             != asked.workers - x2)
      continue;
    most = share;
    best.light = asked.workers - x2;
    best.heavy = x2;
    best.deferred = share;
    best.step = cascade_step::as_asked;
    best.admitted = std::numeric_limits<double>::infinity();
  }
  if (most < 0 && asked.light_workers)
    return core::fail(core::ec::unavailable,
                      "{} of {} workers on the light variant do not serve {} "
                      "requests a second",
                      *asked.light_workers, asked.workers, asked.demand);
  return best;
}

cascade_plan allocate_single(const cascade_problem& asked, bool heavy,
                             uint32_t batch) {
  cascade_plan p;
  p.direct = heavy;
  p.deferred = heavy ? 1 : 0;
  p.threshold = heavy ? thresholds - 1 : 0;
  (heavy ? p.heavy : p.light) = asked.workers;
  p.light_batch = p.heavy_batch = batch;
  return p;
}

core::result<cascade_plan> allocate_for_peak(cascade_problem asked,
                                             double peak_demand) {
  asked.demand = peak_demand;
  asked.wait_light = asked.wait_heavy = 0;
  return allocate(asked);
}

} // namespace atelier::papers
