// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/diffserve/direct.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atelier::planning::diffserve {

namespace {

constexpr double noise = 1e-9;

// Finds the least heavy load of one threshold if the light leg serves no more
// than its capacity, and the parts that give it.
class knapsack {
public:
  knapsack(const cascade_problem& asked, const std::vector<difficulty>& classes,
           size_t threshold)
    : demand_(asked.demand), classes_(classes), threshold_(threshold) {
    order_.resize(classes.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    // Classes that are mostly deferred anyway add the least heavy load.
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return share(a) > share(b); });
    for (size_t j = 0; j < classes.size(); ++j)
      deferred_ += demand_ * classes[j].share * share(j);
  }

  double heavy_load(double light_most, std::vector<double>* parts) const {
    double skip = demand_ - light_most;
    double heavy = deferred_;
    for (const size_t j : order_) {
      if (skip <= 0)
        break;
      const double of_class = demand_ * classes_[j].share;
      const double moved = std::min(skip, of_class);
      heavy += moved * (1 - share(j));
      skip -= moved;
      if (parts != nullptr && of_class > 0)
        (*parts)[j] = moved / of_class;
    }
    return heavy;
  }

private:
  double share(size_t j) const {
    return classes_[j].deferred[threshold_];
  }

  double demand_;
  const std::vector<difficulty>& classes_;
  size_t threshold_;
  std::vector<size_t> order_;
  double deferred_ = 0;
};

// Returns the number of light workers with which the heavy ones serve the rest.
std::optional<uint32_t> split(const cascade_problem& asked, const knapsack& of,
                              const batch_time& b1, const batch_time& b2) {
  for (uint32_t x1 = 0; x1 <= asked.workers; ++x1) {
    const double light = x1 * b1.batch / b1.seconds;
    const double heavy = (asked.workers - x1) * b2.batch / b2.seconds;
    if (of.heavy_load(std::min(light, asked.demand), nullptr) <= heavy + noise)
      return x1;
    // More light workers only leave fewer heavy ones.
    if (light >= asked.demand)
      break;
  }
  return std::nullopt;
}

} // namespace

bool direct_is_cheaper(double p, const batch_time& light,
                       const batch_time& heavy) {
  return p > 1 - (light.seconds / light.batch) / (heavy.seconds / heavy.batch);
}

core::result<direct_plan> allocate_direct(
  const cascade_problem& asked, const std::vector<difficulty>& classes) {
  double sum = 0;
  bool fine = !classes.empty();
  for (const difficulty& c : classes) {
    fine = fine && c.share >= 0;
    sum += c.share;
  }
  if (!fine || !(std::abs(sum - 1) < 1e-6))
    return core::fail(core::ec::invalid_argument,
                      "the shares of {} classes sum to {}, not to 1",
                      classes.size(), sum);
  auto base = allocate(asked);
  if (!base)
    return std::move(base).why();
  direct_plan best{*base, std::vector<double>(classes.size(), 0.0)};
  if (base->step != cascade_step::as_asked || base->direct)
    return best;
  double least = 0;
  bool any = false;
  for (const batch_time& b1 : asked.light.batches)
    for (const batch_time& b2 : asked.heavy.batches) {
      if (asked.execution_factor * (b1.seconds + b2.seconds) + asked.wait_light
            + asked.wait_heavy
          > asked.slo + noise)
        continue;
      // The feasible thresholds come first: heavy load rises with t.
      size_t low = 0;
      size_t high = thresholds;
      while (low < high) {
        const size_t k = (low + high) / 2;
        if (split(asked, knapsack{asked, classes, k}, b1, b2))
          low = k + 1;
        else
          high = k;
      }
      if (low == 0)
        continue;
      const size_t k = low - 1;
      const double seconds = b1.seconds + b2.seconds;
      if (threshold_at(k) < threshold_at(best.base.threshold) - noise
          || (any && k == best.base.threshold && seconds >= least))
        continue;
      if (!any && k <= highest_within(asked.deferred, base->deferred))
        continue;
      const knapsack of{asked, classes, k};
      const uint32_t x1 = *split(asked, of, b1, b2);
      const double light = std::min(x1 * b1.batch / b1.seconds, asked.demand);
      any = true;
      least = seconds;
      best.base.threshold = k;
      best.base.light = x1;
      best.base.heavy = asked.workers - x1;
      best.base.light_batch = b1.batch;
      best.base.heavy_batch = b2.batch;
      std::fill(best.direct.begin(), best.direct.end(), 0.0);
      best.base.deferred =
        of.heavy_load(light, &best.direct) / std::max(asked.demand, noise);
    }
  return best;
}

} // namespace atelier::planning::diffserve
