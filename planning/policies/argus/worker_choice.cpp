// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/argus/worker_choice.hpp>

#include <tuple>

namespace atelier::planning::argus {

std::optional<size_t> choose_worker(std::span<const candidate> workers,
                                    uint32_t level, wait_rule rule) {
  // Levels in order of preference: this one, slower ones, faster ones.
  const auto rank = [&](uint32_t v) -> uint64_t {
    return v <= level ? level - v : (uint64_t{1} << 32) + v;
  };
  const double own = rule == wait_rule::with_own ? 1 : 0;
  const auto key = [&](const candidate& c) {
    return std::tuple{rank(c.level),
                      (static_cast<double>(c.requests) + own) * c.seconds,
                      c.chosen};
  };
  std::optional<size_t> best;
  for (size_t i = 0; i < workers.size(); ++i)
    if (!best || key(workers[i]) < key(workers[*best]))
      best = i;
  return best;
}

} // namespace atelier::planning::argus
