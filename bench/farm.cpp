// SPDX-License-Identifier: Apache-2.0
#include "farm.hpp"

#include <atelier/planning/policy.hpp>
#include <atelier/simulation/simulate.hpp>
#include <atelier/simulation/simulated_loads.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>

namespace atelier::bench {

namespace {

constexpr uint64_t model_bytes = uint64_t{4} << 30;
constexpr uint32_t steps = 30;

struct worker {
  double free_at = 0;
  /// The time at which each loaded model was last used.
  std::map<uint32_t, double> held;

  bool holds(uint32_t variant) const {
    return held.count(variant) != 0;
  }

  /// Returns the loaded model with the least worth, which is evicted first.
  template <class Worth>
  auto leaving(Worth worth) const {
    return std::min_element(
      held.begin(), held.end(), [&](const auto& a, const auto& b) {
        return worth(a.first, a.second) < worth(b.first, b.second);
      });
  }

  /// Returns the worth of the model that a load would evict. The result is
  /// below every worth if the worker has room for another model.
  template <class Worth>
  double lost(size_t most, Worth worth) const {
    if (held.size() < most)
      return std::numeric_limits<double>::lowest();
    const auto i = leaving(worth);
    return worth(i->first, i->second);
  }
};

/// The arrival time and the costs of one request, which both rules know.
struct costs {
  double now = 0;
  double load = 0;
  double run = 0;
  uint32_t variant = 0;

  double end_at(const worker& w) const {
    return std::max(w.free_at, now) + (w.holds(variant) ? 0 : load) + run;
  }
};

costs costs_of(const farm& x, size_t request) {
  const auto& of = x.requests[request];
  const auto& v = x.profile->variants[of.variant];
  costs out;
  out.now = of.seconds;
  out.variant = of.variant;
  out.load = core::to_seconds(
    planning::load_at(*v.loads, runtime::load_part(x.seed, request + 1)));
  out.run = core::to_seconds(planning::step_time(v, of.images, v.native_px)
                             * (of.steps > 0 ? of.steps : v.steps));
  return out;
}

/// The times at which each variant is requested, for the rule that looks ahead.
class calendar {
public:
  explicit calendar(const farm& x) : times_(x.profile->variants.size()) {
    for (const auto& r : x.requests)
      times_[r.variant].push_back(r.seconds);
  }

  /// Returns the variant's next request time after `now`, or the largest double
  /// if the variant is not requested again.
  double next(uint32_t variant, double now) const {
    const auto& all = times_[variant];
    const auto i = std::upper_bound(all.begin(), all.end(), now);
    return i != all.end() ? *i : std::numeric_limits<double>::max();
  }

private:
  std::vector<std::vector<double>> times_;
};

// Runs all requests. `choose` returns the worker of a request. That worker
// evicts the model with the least `worth`, a function of the variant, its last
// use and the present time.
template <class Choose, class Worth>
fared run(const farm& x, Choose choose, Worth worth) {
  std::vector<worker> workers(x.workers);
  fared out;
  double sum = 0;
  double busy = 0;
  double last = 0;
  for (size_t i = 0; i < x.requests.size(); ++i) {
    const auto of = costs_of(x, i);
    worker& w = workers[choose(workers, of)];
    ++out.requests;
    const double end = of.end_at(w);
    if (end - of.now > x.deadline_seconds) {
      ++out.lost;
      sum += 2 * x.deadline_seconds;
      continue;
    }
    busy += of.run;
    if (!w.holds(of.variant)) {
      ++out.loads;
      busy += of.load;
      if (w.held.size() >= x.resident)
        w.held.erase(w.leaving([&](uint32_t variant, double used) {
          return worth(variant, used, of.now);
        }));
    }
    w.held[of.variant] = of.now;
    w.free_at = end;
    last = std::max(last, end);
    sum += end - of.now;
  }
  out.mean_seconds =
    sum / static_cast<double>(std::max<uint64_t>(out.requests, 1));
  out.busy = last > 0 ? busy / (last * x.workers) : 0;
  return out;
}

double last_use(uint32_t, double used, double) {
  return used;
}

/// Returns the worker that has the model and ends the request first. If no such
/// worker ends it in time, returns the worker of all that ends it first. A tie
/// goes to the worker whose evicted model is worth the least.
template <class Worth>
auto near_its_model(const farm& x, Worth worth) {
  return [&x, worth](const std::vector<worker>& workers, const costs& of) {
    size_t best = workers.size();
    for (size_t w = 0; w < workers.size(); ++w)
      if (workers[w].holds(of.variant)
          && (best == workers.size()
              || of.end_at(workers[w]) < of.end_at(workers[best])))
        best = w;
    if (best < workers.size()
        && of.end_at(workers[best]) - of.now <= x.deadline_seconds)
      return best;
    const auto price = [&](const worker& w) {
      return std::tuple{of.end_at(w),
                        w.lost(x.resident, [&](uint32_t variant, double used) {
                          return worth(variant, used, of.now);
                        })};
    };
    best = 0;
    for (size_t w = 1; w < workers.size(); ++w)
      if (price(workers[w]) < price(workers[best]))
        best = w;
    return best;
  };
}

} // namespace

planning::profile farm_profile(uint32_t models) {
  using std::chrono::milliseconds;
  planning::profile out;
  for (uint32_t m = 0; m < models; ++m) {
    planning::variant_profile v;
    v.model = "model" + std::to_string(m);
    v.steps = steps;
    v.name = v.model + "@" + std::to_string(steps);
    const uint64_t px = v.native_px.pixels();
    for (const auto& [batch, seconds] :
         {std::pair{1u, 19}, {2u, 21}, {4u, 23}, {8u, 23}})
      v.step.push_back(
        {batch, px, core::timespan{std::chrono::seconds{seconds}} / steps});
    v.loads = planning::load_times{milliseconds{22'700}, milliseconds{42'000},
                                   milliseconds{51'800}};
    v.load = planning::mean_of(*v.loads);
    v.memory_bytes = model_bytes;
    v.rated = false;
    out.variants.push_back(std::move(v));
  }
  return out;
}

fared earliest_finish(const farm& x) {
  return run(
    x,
    [](const std::vector<worker>& workers, const costs& of) {
      size_t best = 0;
      for (size_t w = 1; w < workers.size(); ++w)
        if (of.end_at(workers[w]) < of.end_at(workers[best]))
          best = w;
      return best;
    },
    last_use);
}

fared affinity(const farm& x) {
  return run(x, near_its_model(x, last_use), last_use);
}

fared clairvoyant(const farm& x) {
  const calendar ahead{x};
  const auto worth = [&](uint32_t variant, double, double now) {
    return -ahead.next(variant, now);
  };
  return run(x, near_its_model(x, worth), worth);
}

core::result<fared> simulated(const farm& x, std::string_view policy) {
  const auto found = planning::make_policy(policy);
  if (!found)
    return found.why();
  runtime::scenario of;
  of.profile = x.profile;
  of.policy = *found;
  of.trace = x.requests;
  of.workers = x.workers;
  of.max_batch = x.max_batch;
  of.memory_bytes = x.resident * model_bytes;
  of.seed = x.seed;
  of.deadline = core::from_seconds(x.deadline_seconds);
  of.window = std::chrono::seconds{10};
  of.period = std::chrono::seconds{30};
  of.interval_seconds = 3600;
  const auto ran = runtime::simulate(of);
  if (!ran)
    return ran.why();
  fared out;
  out.requests = ran->requests;
  out.lost = ran->violations();
  out.loads = ran->loads;
  out.busy = ran->utilisation;
  // A late request counts as twice the deadline.
  out.mean_seconds =
    (ran->latency_mean_ms / 1000 * static_cast<double>(ran->completed)
     + 2 * x.deadline_seconds * static_cast<double>(out.lost))
    / static_cast<double>(out.requests);
  return out;
}

} // namespace atelier::bench
