// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/eviction_rule.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace atelier::planning::nirvana {

/// One cached state: the latent of one prompt after `skip` steps.
struct cached_state {
  uint64_t entry = 0;
  uint32_t skip = 0;
  /// The next lower skip that is stored for the same prompt; 0: none. Requests
  /// for this state fall back to that one when it is evicted.
  uint32_t below = 0;
  uint64_t bytes = 0;
  /// The number of uses.
  double uses = 0;
  /// The times of insertion and of the last use, as any rising count.
  uint64_t inserted = 0;
  uint64_t used = 0;
  /// Ageing: the cache's `floor` at the insertion or the last use.
  double floor = 0;
  /// A reader holds it.
  bool leased = false;
};

using core::eviction_rule;

/// Returns the worth of a state under a rule; the least worth is evicted first.
double worth(const cached_state& of, eviction_rule rule);

/// The place of a state in the order of eviction: its worth, last use, skip and
/// entry. The least is evicted first.
using eviction_place = std::tuple<double, uint64_t, uint32_t, uint64_t>;

eviction_place place_of(const cached_state& of, eviction_rule rule);

/// Returns whether a server's cache evicts payloads alone by the rule, and not
/// entries with all their payloads.
constexpr bool is_by_payload(eviction_rule rule) {
  return rule == eviction_rule::lcbfu;
}

/// What a server's cache evicts at once: an entry, or a payload of an entry.
struct cached_unit {
  uint64_t entry = 0;
  /// The steps of the state; 0 for an image or an entry.
  uint32_t steps = 0;
  /// The number of steps that all its uses skipped.
  uint64_t saved_steps = 0;
  /// The times of insertion and of the last use, each as a rising count of its
  /// own.
  uint64_t inserted = 0;
  uint64_t used = 0;
};

/// Returns the place of a unit. A state's worth under LCBFU is that of a
/// cached_state with the same uses.
/// @pre `rule` is one of a server
eviction_place place_of(const cached_unit& of, eviction_rule rule);

/// Returns the initial uses of a state that enters the cache: none under the
/// paper's rule, otherwise one.
double first_uses(eviction_rule rule);

/// The number of states that are evicted together when the budget is full.
/// Source: Nirvana, section 5.4.
inline constexpr size_t evicted_at_once = 5;

} // namespace atelier::planning::nirvana
