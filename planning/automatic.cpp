// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/automatic.hpp>

#include <algorithm>

namespace atelier::planning {

bool relates_variants(const profile& known) {
  return !known.ladders.empty() || !known.cascades.empty()
      || known.reuse.has_value();
}

std::string_view policy_for(const profile& known) {
  const auto& all = known.variants;
  const bool several_models =
    std::any_of(all.begin(), all.end(), [&](const variant_profile& v) {
      return v.model != all.front().model;
    });
  const bool by_demand =
    several_models && !relates_variants(known) && known.masked.empty();
  return by_demand ? "atelier" : "vanilla";
}

std::string_view policy_named(std::string_view asked, const profile& known) {
  return asked == automatic_name ? policy_for(known) : asked;
}

} // namespace atelier::planning
