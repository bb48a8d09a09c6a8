// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/reuse/scaled_table.hpp>

#include <algorithm>

namespace atelier::planning {

uint32_t scaled_skip(uint32_t skip, uint32_t of, uint32_t steps) {
  if (of == 0 || steps == 0)
    return 0;
  return static_cast<uint32_t>(
    std::min<uint64_t>(uint64_t{skip} * steps / of, steps - 1));
}

skip_table scaled_to(const skip_table& table, uint32_t of, uint32_t steps) {
  skip_table out;
  for (const skip_threshold& t : table) {
    const uint32_t skip = scaled_skip(t.skip, of, steps);
    if (skip == 0 || (!out.empty() && out.back().skip == skip))
      continue;
    out.push_back({skip, t.similarity});
  }
  return out;
}

} // namespace atelier::planning
