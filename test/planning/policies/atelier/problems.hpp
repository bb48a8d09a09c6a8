// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning/sample.hpp"
#include <atelier/planning/policies/atelier/solve.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

namespace atelier::test {

struct problem_size {
  uint32_t kinds = 2;
  uint32_t alive = 3;
  uint32_t hostings = 3;
  uint32_t pools = 3;
  uint32_t classes = 3;
  uint32_t columns = 10;
  /// Waits bound the utilisation of pools.
  bool waits = false;
};

/// Returns a problem whose sizes are at most those of `most`.
inline planning::unified::problem random_problem(core::philox& random,
                                                 const problem_size& most) {
  using namespace planning::unified;
  problem p;
  const auto up_to = [&](uint32_t n) {
    return static_cast<uint32_t>(1 + random.below(n));
  };
  double devices = 0;
  std::vector<uint32_t> free;
  for (uint32_t i = up_to(most.kinds); i > 0; --i) {
    p.kinds.push_back({"kind", up_to(most.alive)});
    free.push_back(p.kinds.back().alive);
    devices += p.kinds.back().alive;
  }
  for (uint32_t i = up_to(most.hostings); i > 0; --i) {
    hosting h;
    h.kind = static_cast<uint32_t>(random.below(p.kinds.size()));
    h.now = static_cast<uint32_t>(random.below(free[h.kind] + 1));
    free[h.kind] -= h.now;
    h.load_seconds = random.below(3) == 0 ? 0 : 80 * random.uniform();
    p.hostings.push_back(h);
  }
  for (uint32_t i = up_to(most.pools); i > 0; --i) {
    pool x;
    x.of = static_cast<uint32_t>(random.below(p.hostings.size()));
    x.seats = up_to(8);
    x.busy = 0.5 + 0.5 * random.uniform();
    if (most.waits)
      x.wait = 0.25 * static_cast<double>(1u << random.below(3));
    p.pools.push_back(x);
  }
  if (random.below(2) == 0)
    p.mixes.push_back({segments_of(envelope({{0, random.uniform()},
                                             {0.5, 0.5 + random.uniform()},
                                             {1, random.uniform()}},
                                            8))});
  for (uint32_t i = up_to(most.classes); i > 0; --i) {
    request_class c;
    c.rate = random.below(8) == 0
             ? 0
             : 0.7 * devices * random.uniform() / most.classes;
    c.floor = random.below(2) == 0 ? 0 : random.uniform();
    c.weight = 1 + static_cast<double>(random.below(3));
    p.classes.push_back(c);
  }
  for (uint32_t i = up_to(most.columns); i > 0; --i) {
    column c;
    c.of = static_cast<uint32_t>(random.below(p.classes.size()));
    c.key = i;
    c.quality = random.uniform();
    c.fresh = random.below(2) == 0;
    c.legs = up_to(2);
    if (!p.mixes.empty() && random.below(3) == 0) {
      c.mix = 0;
      c.light = random.uniform();
    }
    for (uint32_t s = 0; s < c.legs; ++s)
      c.work[s] = {static_cast<uint32_t>(random.below(p.pools.size())),
                   0.2 + 3 * random.uniform() * c.quality};
    p.columns.push_back(c);
  }
  p.load_price = random.below(2) == 0 ? 0 : 0.01 * random.uniform();
  p.fresh = random.below(2) == 0 ? 0 : 0.1;
  return p;
}

/// Checks that a decision satisfies every constraint of its problem.
inline void check_decision(const planning::unified::problem& p,
                           const planning::unified::decision& d) {
  using namespace planning::unified;
  constexpr double noise = 1e-5;
  std::vector<double> devices(p.kinds.size(), 0.0);
  std::vector<double> wanted(p.hostings.size(), 0.0);
  std::vector<double> spare(p.hostings.size(), 0.0);
  std::vector<double> work(p.pools.size(), 0.0);
  std::vector<double> answered(p.classes.size(), 0.0);
  for (size_t i = 0; i < p.columns.size(); ++i) {
    BOOST_REQUIRE(d.taken[i] >= 0);
    answered[p.columns[i].of] += d.taken[i];
    for (const pool_work& w : p.columns[i].works())
      work[w.pool] += d.taken[i] * w.seconds;
  }
  for (size_t k = 0; k < p.pools.size(); ++k) {
    const auto h = p.pools[k].of;
    devices[p.hostings[h].kind] += d.count[k];
    wanted[h] += d.count[k];
    const double busy = busy_of(p.pools[k], d.count[k]);
    BOOST_REQUIRE_LE(work[k], busy * d.count[k] + noise);
    spare[h] += d.count[k] - work[k] / busy;
  }
  for (size_t h = 0; h < p.hostings.size(); ++h) {
    const double loads = std::max(0.0, wanted[h] - p.hostings[h].now);
    const double part = std::min(1.0, p.hostings[h].load_seconds / p.period);
    BOOST_REQUIRE_GE(spare[h], loads * part - noise);
  }
  for (size_t k = 0; k < p.kinds.size(); ++k)
    BOOST_REQUIRE_LE(devices[k], p.kinds[k].alive);
  for (size_t c = 0; c < p.classes.size(); ++c)
    BOOST_REQUIRE_SMALL(answered[c] + d.refused[c] - p.classes[c].rate, noise);
}

} // namespace atelier::test
