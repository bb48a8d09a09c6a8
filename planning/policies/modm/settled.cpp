// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/modm/refinement.hpp>
#include <atelier/planning/policies/modm/settled.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace atelier::planning::modm {

namespace {

// Evaluates the splits over one small model for the loads.
class splits {
public:
  splits(uint32_t workers, double large_speed, const small_choice& small,
         window seen, const settled_rules& rules)
    : workers_(workers), full_{large_speed, small.runs.speed}, rules_(rules) {
    seen.left = small.runs.left;
    loads_ = loads_of(seen);
  }

  /// Returns the most large workers that serve the loads with headroom.
  std::optional<uint32_t> planned() const {
    return quality_split(workers_, loads_, part_of(rules_.used));
  }

  /// Returns whether any split still serves them.
  bool can() const {
    return quality_split(workers_, loads_, part_of(rules_.kept)).has_value();
  }

  bool serves(uint32_t large) const {
    return multiple(large, part_of(rules_.kept)) >= 1;
  }

  /// Returns the split that serves the largest multiple of the loads.
  uint32_t most() const {
    uint32_t best = 1;
    for (uint32_t n = 2; n <= workers_; ++n)
      if (multiple(n, full_) > multiple(best, full_))
        best = n;
    return best;
  }

  double multiple(uint32_t large) const {
    return multiple(large, full_);
  }

private:
  speeds part_of(double used) const {
    return {full_.large * used, full_.small * used};
  }

  // Large workers run all misses, and hits in the remaining time.
  double multiple(uint32_t large, const speeds& at) const {
    const double sum = loads_.miss + loads_.hit;
    if (!(sum > 0))
      return 1;
    const double small = (workers_ - large) * at.small;
    double most = (large * at.large + small) / sum;
    if (loads_.miss > 0)
      most = std::min(most, large * at.large / loads_.miss);
    return most;
  }

  uint32_t workers_;
  speeds full_;
  loads loads_;
  const settled_rules& rules_;
};

} // namespace

window hit_counts::at(double rate) const {
  window out;
  out.rate = rate;
  if (arrived > 0)
    out.hits = std::min(1.0, hits / arrived);
  if (hits > 0)
    out.left = left / hits;
  return out;
}

hit_counts with(hit_counts before, std::span<const demand_window> windows,
                uint32_t steps, double fading) {
  for (const demand_window& w : windows) {
    const auto end = core::after(w.begin, w.length);
    if (end <= before.seen)
      continue;
    const double keeps = std::exp(-core::to_seconds(w.length) / fading);
    before.arrived = before.arrived * keeps + static_cast<double>(w.arrived);
    before.hits *= keeps;
    before.left *= keeps;
    for (const auto& [skip, n] : w.skips) {
      const auto count = static_cast<double>(n);
      before.hits += count;
      before.left +=
        count * std::max(0.0, 1 - static_cast<double>(skip) / steps);
    }
    before.seen = end;
  }
  return before;
}

settled_split plan_settled(uint32_t workers, double large_speed,
                           double large_load,
                           std::span<const small_choice> smalls,
                           const hit_counts& hits, double rate,
                           const settled_memory& before, core::time_point now,
                           const settled_rules& rules) {
  settled_split out;
  settled_memory& m = out.memory = before;
  const auto finish = [&] {
    out.large = m.large;
    out.small = m.small;
    return out;
  };
  const uint32_t last =
    smalls.empty() ? 0 : static_cast<uint32_t>(smalls.size() - 1);
  if (!m.started) {
    m.started = true;
    m.more = workers;
    m.since = now;
  }
  // New workers are large, as all are at the start, until the loads require
  // otherwise.
  if (workers > m.workers)
    m.large += workers - m.workers;
  m.workers = workers;
  m.large = std::min(m.large, workers);
  m.small = std::min(m.small, last);
  if (smalls.empty() || workers == 0)
    m.large = workers;
  if (smalls.empty() || workers == 0 || !(rate > 0)
      || hits.arrived < rules.least_arrived)
    return finish();

  const window seen = hits.at(rate);
  const auto with_small = [&](uint32_t i) {
    return splits{workers, large_speed, smalls[i], seen, rules};
  };
  uint32_t wanted = last;
  for (uint32_t i = 0; i <= last; ++i)
    if (with_small(i).planned()) {
      wanted = i;
      break;
    }
  const uint32_t most_large = with_small(wanted).planned().value_or(0);
  const auto restart = [&] {
    m.since = now;
    m.better = 0;
    m.more = workers;
  };
  if (m.small < wanted && !with_small(m.small).can()) {
    m.small = wanted;
    restart();
  }
  const auto here = with_small(m.small);
  out.mode = here.can() ? serve_mode::quality : serve_mode::throughput;
  out.saturated = !with_small(last).can();
  if (!here.serves(m.large)) {
    if (const auto large = here.planned()) {
      m.large = *large;
    } else {
      const double gain = (here.multiple(here.most()) - here.multiple(m.large));
      const double load =
        std::max({rules.least_load, large_load, smalls[m.small].load_seconds});
      m.large = settled(m.large, here.most(), gain * rate, rules.horizon, load,
                        rate / workers);
    }
    restart();
    return finish();
  }
  // A better choice must have been sufficient all the time.
  m.better = std::max(m.better, wanted);
  if (wanted > m.small || (wanted == m.small && most_large <= m.large)) {
    restart();
    return finish();
  }
  if (m.better <= m.small)
    m.more = std::min(m.more, wanted == m.small ? most_large : workers);
  const double load = std::max(large_load, smalls[wanted].load_seconds);
  const double wait = std::max(rules.patience, load / (1 - kept_quality));
  if (core::to_seconds(now - m.since) < wait)
    return finish();
  if (m.better < m.small) {
    m.small = m.better;
    m.large = with_small(m.small).planned().value_or(m.large);
  } else if (m.more > m.large) {
    m.large = m.more;
  }
  restart();
  return finish();
}

} // namespace atelier::planning::modm
