// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/diffserve/allocation.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace atelier::planning::diffserve {

namespace {

using core::ec;

// The tolerance of counts and times at their bounds.
constexpr double noise = 1e-9;

core::result<void> sound(const cascade_problem& asked) {
  for (const leg_times* one : {&asked.light, &asked.heavy}) {
    if (one->batches.empty())
      return core::fail(ec::invalid_argument,
                        "variant {} has no profiled batch", one->variant.value);
    for (const batch_time& b : one->batches)
      if (b.batch == 0 || !(b.seconds > 0) || !std::isfinite(b.seconds))
        return core::fail(ec::invalid_argument,
                          "variant {}: {} s of a batch of {} are not a time "
                          "above 0",
                          one->variant.value, b.seconds, b.batch);
  }
  for (const double x : {asked.demand, asked.slo, asked.wait_light,
                         asked.wait_heavy, asked.execution_factor})
    if (!(x >= 0) || !std::isfinite(x))
      return core::fail(
        ec::invalid_argument,
        "demand {}, deadline {}, waits {} and {}: not numbers of at least 0",
        asked.demand, asked.slo, asked.wait_light, asked.wait_heavy);
  if (asked.workers == 0)
    return core::fail(ec::unavailable, "no worker exists");
  return {};
}

// A fixed batch may be between the profiled ones.
std::vector<batch_time> choices(const leg_times& of,
                                const std::optional<uint32_t>& only) {
  if (!only)
    return of.batches;
  return {{*only, batch_seconds(of, std::max(*only, 1u))}};
}

uint32_t switches(const cascade_problem& asked, const cascade_plan& p) {
  const auto more = [](uint32_t wanted, uint32_t there) {
    return wanted > there ? wanted - there : 0;
  };
  return more(p.light, asked.hosting_light)
       + more(p.heavy, asked.hosting_heavy);
}

// Keeps the best plan offered.
class best_plan {
public:
  explicit best_plan(const cascade_problem& asked) : asked_(asked) {}

  void offer(const cascade_plan& p, double seconds) {
    const auto key =
      std::tuple{-threshold_at(p.threshold), seconds, switches(asked_, p)};
    if (!best_ || key < key_) {
      best_ = p;
      key_ = key;
    }
  }

  const std::optional<cascade_plan>& get() const {
    return best_;
  }

private:
  const cascade_problem& asked_;
  std::optional<cascade_plan> best_;
  std::tuple<double, double, uint32_t> key_;
};

// Adds each spare worker to the leg that is more loaded at that moment.
void add_spare(const cascade_problem& asked, cascade_plan& p) {
  const auto busy = [&](double load, uint32_t workers, const leg_times& of,
                        uint32_t batch) {
    return workers > 0 ? load / (workers * throughput(of, batch)) : load;
  };
  const double light = p.direct ? 0 : asked.demand;
  const double heavy = asked.demand * p.deferred;
  while (p.light + p.heavy < asked.workers)
    ++(busy(light, p.light, asked.light, p.light_batch)
           > busy(heavy, p.heavy, asked.heavy, p.heavy_batch)
         ? p.light
         : p.heavy);
}

uint32_t workers_for(double load, const batch_time& b) {
  return static_cast<uint32_t>(
    std::ceil(std::min(load * b.seconds / b.batch, 4e9) - noise));
}

// Returns the highest threshold for a capacity, or the fixed one if it fits.
std::optional<size_t> threshold_within(const cascade_problem& asked,
                                       double share) {
  share = std::min(share, asked.most_deferred);
  if (!asked.threshold)
    return lowest_equal(asked.deferred, highest_within(asked.deferred, share));
  if (asked.deferred[*asked.threshold] > share + noise)
    return std::nullopt;
  return asked.threshold;
}

std::optional<cascade_plan> closed_form(const cascade_problem& asked) {
  best_plan best{asked};
  const auto lights = choices(asked.light, asked.light_batch);
  const auto heavies = choices(asked.heavy, asked.heavy_batch);
  const double factor = asked.execution_factor;
  for (const batch_time& b1 : lights) {
    const double first = factor * b1.seconds + asked.wait_light;
    uint32_t x1 = workers_for(asked.demand, b1);
    if (x1 > asked.light_workers.value_or(asked.workers)
        || first > asked.slo + noise)
      continue;
    x1 = std::min(asked.light_workers.value_or(x1), asked.workers);
    for (const batch_time& b2 : heavies) {
      if (first + factor * b2.seconds + asked.wait_heavy > asked.slo + noise)
        continue;
      const uint32_t x2 = asked.workers - x1;
      const double served = x2 * b2.batch / b2.seconds;
      const double share = asked.demand > 0
                           ? std::min(1.0, served / asked.demand)
                           : (x2 > 0 ? 1.0 : 0.0);
      const auto k = threshold_within(asked, share);
      if (!k)
        continue;
      cascade_plan p;
      p.threshold = *k;
      p.deferred = asked.deferred[*k];
      p.light = x1;
      p.heavy = asked.light_workers
                ? x2
                : std::min(x2, workers_for(asked.demand * p.deferred, b2));
      p.light_batch = b1.batch;
      p.heavy_batch = b2.batch;
      add_spare(asked, p);
      best.offer(p, b1.seconds + b2.seconds);
    }
  }
  if (best.get())
    return best.get();
  // Without the heavy leg, no image is deferred or judged.
  if (asked.threshold.value_or(0) != 0
      || asked.light_workers.value_or(asked.workers) != asked.workers)
    return std::nullopt;
  for (batch_time b1 : lights) {
    if (asked.bypass)
      b1.seconds =
        std::max(b1.seconds - asked.light.judge_seconds * b1.batch, noise);
    const uint32_t x1 = workers_for(asked.demand, b1);
    if (x1 > asked.workers
        || factor * b1.seconds + asked.wait_light > asked.slo + noise)
      continue;
    cascade_plan p;
    p.light = asked.workers;
    p.light_batch = b1.batch;
    p.heavy_batch = heavies.front().batch;
    best.offer(p, b1.seconds);
  }
  return best.get();
}

// Returns a plan with all workers on the heavy leg, if that serves all requests
// in time.
std::optional<cascade_plan> all_heavy(const cascade_problem& asked) {
  if (!asked.bypass || asked.most_deferred < 1 || asked.threshold
      || asked.light_workers.value_or(0) != 0)
    return std::nullopt;
  std::optional<cascade_plan> best;
  double least = 0;
  for (const batch_time& b : choices(asked.heavy, asked.heavy_batch)) {
    if (asked.execution_factor * b.seconds + asked.wait_heavy
          > asked.slo + noise
        || workers_for(asked.demand, b) > asked.workers)
      continue;
    if (best && b.seconds >= least)
      continue;
    least = b.seconds;
    cascade_plan p;
    p.direct = true;
    p.threshold = lowest_equal(asked.deferred, thresholds - 1);
    p.deferred = 1;
    p.heavy = asked.workers;
    p.heavy_batch = b.batch;
    p.light_batch = asked.light.batches.front().batch;
    best = p;
  }
  return best;
}

std::optional<cascade_plan> solved(const cascade_problem& asked) {
  if (auto direct = all_heavy(asked))
    return direct;
  return closed_form(asked);
}

} // namespace

core::result<cascade_plan> allocate(const cascade_problem& asked) {
  if (auto ok = sound(asked); !ok)
    return std::move(ok).why();
  if (auto plan = solved(asked))
    return *plan;
  cascade_problem bare = asked;
  bare.wait_light = bare.wait_heavy = 0;
  if (auto plan = solved(bare)) {
    plan->step = cascade_step::without_waits;
    return *plan;
  }
  if (asked.light_workers)
    return core::fail(ec::unavailable,
                      "{} of {} workers on the light variant do not serve {} "
                      "requests a second within {:.6g} s",
                      *asked.light_workers, asked.workers, asked.demand,
                      asked.slo);
  // A fixed threshold or batch is dropped before requests are refused.
  bare.threshold.reset();
  bare.light_batch.reset();
  bare.heavy_batch.reset();
  if (auto plan = solved(bare)) {
    plan->step = cascade_step::without_waits;
    return *plan;
  }
  const uint32_t batch =
    best_batch_within(asked.light, asked.slo / asked.execution_factor);
  if (batch == 0)
    return core::fail(ec::bad_config,
                      "deadline_ms {:.6g}: one image of the light variant "
                      "takes {:.6g} ms",
                      1e3 * asked.slo,
                      1e3 * asked.execution_factor
                        * asked.light.batches[0].seconds);
  cascade_plan p;
  p.step = cascade_step::shedding;
  p.light = asked.workers;
  p.light_batch = batch;
  p.heavy_batch = asked.heavy.batches.front().batch;
  p.admitted = asked.workers * throughput(asked.light, batch);
  return p;
}

cascade_plan first_plan(const cascade_problem& asked) {
  const auto eight = [](const leg_times& of) {
    uint32_t batch = of.batches.front().batch;
    for (const batch_time& b : of.batches)
      if (b.batch <= 8)
        batch = b.batch;
    return batch;
  };
  cascade_plan p;
  p.threshold = thresholds - 1;
  p.deferred = asked.deferred.back();
  p.light = asked.workers / 2 + asked.workers % 2;
  p.heavy = asked.workers - p.light;
  p.light_batch = eight(asked.light);
  p.heavy_batch = eight(asked.heavy);
  return p;
}

} // namespace atelier::planning::diffserve
