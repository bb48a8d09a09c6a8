// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning::nirvana {

/// One cached state: the latent of one prompt after `skip` steps.
struct cached_state {
  uint64_t entry = 0;
  uint32_t skip = 0;
  /// The next lower skip that is stored of the same prompt; 0: none. Requests
  /// for this state fall to that one when it goes.
  uint32_t below = 0;
  uint64_t bytes = 0;
  /// Times it was used.
  double uses = 0;
  /// When it came and when it was used last, on any rising count.
  uint64_t inserted = 0;
  uint64_t used = 0;
  /// Ageing: `floor` of the cache when it came or was used last.
  double floor = 0;
  /// Somebody reads it.
  bool leased = false;
};

enum class eviction_rule : uint8_t {
  /// f K: uses times skipped steps.
  /// Source: Nirvana, section 5.4 (LCBFU).
  lcbfu,
  /// floor + f (K - K below) / bytes: what going loses, for each byte, aged, so
  /// that a newcomer is not always the next victim.
  marginal,
  /// Least recently used; least used; first in, first out.
  lru,
  lfu,
  fifo,
};

/// Returns what a state is worth under a rule; the least goes first.
double worth(const cached_state& of, eviction_rule rule);

/// Returns uses of a state that enters the cache: under the paper's rule none,
/// else one.
double first_uses(eviction_rule rule);

/// States that go at once when the budget is full.
/// Source: Nirvana, section 5.4.
inline constexpr size_t evicted_at_once = 5;

/// Returns the indices of the states that go so that at least `bytes` come
/// free, the least worth first, then the one used longest ago, then the lower
/// skip; at least `least` of them. Leased ones stay. Fewer where there are no
/// more.
std::vector<size_t> victims(std::span<const cached_state> states,
                            eviction_rule rule, uint64_t bytes,
                            size_t least = evicted_at_once);

} // namespace atelier::planning::nirvana
