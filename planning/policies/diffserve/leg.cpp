// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/policies/diffserve/leg.hpp>

#include <algorithm>

namespace atelier::planning::diffserve {

double batch_seconds(const leg_times& of, uint32_t n) {
  ATELIER_EXPECTS(!of.batches.empty() && n > 0, "a profiled batch, and a row");
  const auto above =
    std::find_if(of.batches.begin(), of.batches.end(),
                 [&](const batch_time& b) { return b.batch >= n; });
  if (above == of.batches.end())
    return of.batches.back().seconds * n / of.batches.back().batch;
  if (above->batch == n)
    return above->seconds;
  if (above == of.batches.begin())
    return above->seconds * n / above->batch;
  const batch_time& a = *(above - 1);
  const batch_time& b = *above;
  return a.seconds
       + (b.seconds - a.seconds) * (n - a.batch) / (b.batch - a.batch);
}

double throughput(const leg_times& of, uint32_t n) {
  return n / batch_seconds(of, n);
}

uint32_t best_batch_within(const leg_times& of, double seconds) {
  uint32_t best = 0;
  double most = 0;
  for (const batch_time& b : of.batches)
    if (b.seconds <= seconds && b.batch / b.seconds > most) {
      most = b.batch / b.seconds;
      best = b.batch;
    }
  return best;
}

} // namespace atelier::planning::diffserve
