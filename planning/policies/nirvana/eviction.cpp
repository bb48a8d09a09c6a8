// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/policies/nirvana/eviction.hpp>

#include <algorithm>
#include <utility>

namespace atelier::planning::nirvana {

double worth(const cached_state& of, eviction_rule rule) {
  switch (rule) {
    case eviction_rule::lcbfu:
      return of.uses * of.skip;
    case eviction_rule::marginal:
      return of.floor
           + of.uses * (of.skip - std::min(of.below, of.skip))
               / static_cast<double>(std::max<uint64_t>(of.bytes, 1));
    case eviction_rule::lru:
      return static_cast<double>(std::max(of.used, of.inserted));
    case eviction_rule::lfu:
      return of.uses;
    case eviction_rule::fifo:
      return static_cast<double>(of.inserted);
  }
  return 0;
}

eviction_place place_of(const cached_state& of, eviction_rule rule) {
  return {worth(of, rule), of.used, of.skip, of.entry};
}

eviction_place place_of(const cached_unit& of, eviction_rule rule) {
  ATELIER_EXPECTS(core::is_server_rule(rule),
                  "a server's cache evicts by its rules");
  // A use that skips K steps is worth as much as K uses that skip one. The uses
  // of an image skip different numbers of steps.
  cached_state x;
  x.skip = 1;
  x.uses = static_cast<double>(of.saved_steps);
  x.used = of.used;
  // It cannot be compared with `used`.
  x.inserted = rule == eviction_rule::fifo ? of.inserted : 0;
  return {worth(x, rule), of.used, of.steps, of.entry};
}

double first_uses(eviction_rule rule) {
  return rule == eviction_rule::lcbfu ? 0 : 1;
}

} // namespace atelier::planning::nirvana
