// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/philox.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>

#include <functional>
#include <string>
#include <vector>

namespace atelier::test {

/// Returns a ladder of `n` levels. Each level is strictly faster and worse than
/// the one before.
inline planning::argus::ladder random_ladder(core::philox& random, size_t n) {
  planning::argus::ladder out(n);
  double seconds = 0.5 + random.uniform() * 4;
  double quality = 1;
  for (size_t v = 0; v < n; ++v) {
    out[v].name = "v" + std::to_string(v + 1);
    out[v].variant = core::variant_id{static_cast<uint32_t>(v)};
    out[v].seconds = seconds;
    out[v].quality = quality;
    out[v].load_seconds = 5 + random.uniform() * 5;
    seconds *= 0.4 + random.uniform() * 0.55;
    quality -= 0.005 + random.uniform() * 0.15;
  }
  return out;
}

/// Returns the six levels of cached latents of a model that takes 4.2 s for 50
/// steps.
inline planning::argus::ladder six_levels() {
  planning::argus::ladder out(6);
  for (size_t v = 0; v < out.size(); ++v) {
    out[v].name = "K=" + std::to_string(5 * v);
    out[v].skip = static_cast<uint32_t>(5 * v);
    out[v].seconds = 4.2 * (50.0 - 5.0 * static_cast<double>(v)) / 50;
    out[v].quality = 1 - 0.02 * static_cast<double>(v * v);
  }
  return out;
}

/// Calls `what` with every distribution of at most `workers` workers to
/// `levels` levels.
inline void each_count(
  size_t levels, uint32_t workers,
  const std::function<void(std::vector<uint32_t>&)>& what) {
  std::vector<uint32_t> n(levels, 0);
  const std::function<void(size_t, uint32_t)> go = [&](size_t at,
                                                       uint32_t left) {
    if (at == levels) {
      what(n);
      return;
    }
    for (n[at] = 0; n[at] <= left; ++n[at])
      go(at + 1, left - n[at]);
    n[at] = 0;
  };
  go(0, workers);
}

/// Returns the most quality a second that these workers reach at `rate`
/// requests a second, with the best levels filled first. The result is negative
/// if they cannot serve the rate.
inline double filled(const planning::argus::ladder& levels,
                     const std::vector<uint32_t>& n, double rate) {
  double quality = 0;
  for (size_t v = 0; v < levels.size(); ++v) {
    const double load = std::min(rate, n[v] * levels[v].rate());
    quality += load * levels[v].quality;
    rate -= load;
  }
  return rate > 1e-9 ? -1 : quality;
}

} // namespace atelier::test
