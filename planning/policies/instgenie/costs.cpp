// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/instgenie/costs.hpp>

#include <algorithm>

namespace atelier::planning::instgenie {

double full_operations(const block_shape& of) {
  const double l = of.tokens;
  const double h = of.width;
  return 24 * l * h * h + 4 * l * l * h;
}

double masked_operations(const block_shape& of, double ratio, recorded what) {
  const double m = std::clamp(ratio, 0.0, 1.0);
  if (what == recorded::keys_values)
    return m * full_operations(of);
  const double l = of.tokens;
  const double h = of.width;
  return m * (20 * l * h * h + 4 * l * l * h) + 4 * l * h * h;
}

double loaded_bytes(const block_shape& of, double ratio, recorded what) {
  const double m = std::clamp(ratio, 0.0, 1.0);
  const double values = (1 - m) * of.tokens * of.width;
  return values * of.bytes_per_value * (what == recorded::keys_values ? 2 : 1);
}

std::vector<block_cost> batch_costs(std::span<const block_shape> blocks,
                                    std::span<const batch_member> members,
                                    const estimator& by, recorded what) {
  std::vector<block_cost> out;
  for (const block_shape& block : blocks) {
    double masked = 0;
    double full = 0;
    double bytes = 0;
    for (const batch_member& m : members) {
      const double all = full_operations(block);
      full += all;
      if (m.missing || m.ratio >= 1) {
        masked += all;
        continue;
      }
      masked += masked_operations(block, m.ratio, what);
      bytes += loaded_bytes(block, m.ratio, what);
    }
    block_cost c;
    c.full = std::max(0.0, by.compute(full));
    c.cached = c.full;
    if (bytes > 0) {
      c.cached = std::max(0.0, by.compute(masked));
      c.load = std::max(0.0, by.load(bytes));
    }
    out.push_back(c);
  }
  return out;
}

} // namespace atelier::planning::instgenie
