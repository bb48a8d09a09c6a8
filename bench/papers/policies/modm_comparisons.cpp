// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/policies/modm_comparisons.hpp>

namespace atelier::papers {

namespace {

planning::modm_rules rules_as_published() {
  for (auto& rules : planning::all_modm_rules())
    if (rules.name == "modm-paper") {
      rules.name = "modm-cache-large";
      return rules;
    }
  return {};
}

} // namespace

modm_cache_large::modm_cache_large() : modm_policy(rules_as_published()) {}

planning::plan modm_cache_large::replan(const planning::demand& asked,
                                        const planning::profile& known,
                                        const planning::cluster_view& there,
                                        const planning::plan& previous) const {
  auto next = modm_policy::replan(asked, known, there, previous);
  for (auto& route : next.routes)
    if (!route.legs.empty()
        && route.legs.front().from == planning::origin::image)
      route.store.image = false;
  return next;
}

} // namespace atelier::papers
