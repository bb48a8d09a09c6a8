// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/reuse/scaled_table.hpp>

namespace atelier::planning {

skip_table scaled_to(const skip_table& table, uint32_t steps) {
  skip_table out;
  for (const skip_threshold& t : table) {
    const auto skip =
      static_cast<uint32_t>(uint64_t{t.skip} * steps / table_steps);
    if (skip == 0 || (!out.empty() && out.back().skip == skip))
      continue;
    out.push_back({skip, t.similarity});
  }
  return out;
}

} // namespace atelier::planning
