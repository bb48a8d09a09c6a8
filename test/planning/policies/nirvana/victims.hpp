// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/nirvana/eviction.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace atelier::test {

/// Returns the indices of the states to evict so that at least `bytes` are
/// freed: the least worth first, then the least recently used, then the lower
/// skip; at least `least` of them. Leased states stay. It returns fewer if no
/// more can be evicted.
inline std::vector<size_t> victims(
  const std::vector<planning::nirvana::cached_state>& states,
  planning::nirvana::eviction_rule rule, uint64_t bytes,
  size_t least = planning::nirvana::evicted_at_once) {
  std::vector<size_t> order;
  for (size_t i = 0; i < states.size(); ++i)
    if (!states[i].leased)
      order.push_back(i);
  const auto key = [&](size_t i) {
    return std::pair{planning::nirvana::place_of(states[i], rule), i};
  };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return key(a) < key(b); });
  uint64_t freed = 0;
  size_t n = 0;
  while (n < order.size() && (n < least || freed < bytes))
    freed += states[order[n++]].bytes;
  order.resize(n);
  return order;
}

} // namespace atelier::test
