// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/modm/refinement.hpp>
#include <atelier/planning/reuse/scaled_table.hpp>

namespace atelier::planning::modm {

skip_table published_table() {
  return {{5, 0.25}, {10, 0.27}, {15, 0.28}, {25, 0.29}, {30, 0.30}};
}

skip_table table_in(const reuse_profile& known) {
  return known.images.empty()
         ? scaled_to(published_table(), reference_steps, known.steps)
         : known.images;
}

std::optional<refinement> refine_with(uint32_t own_steps, uint32_t skip,
                                      uint32_t of) {
  const uint32_t first = scaled_skip(skip, of, own_steps);
  if (first == 0)
    return std::nullopt;
  return refinement{first, own_steps - first};
}

} // namespace atelier::planning::modm
