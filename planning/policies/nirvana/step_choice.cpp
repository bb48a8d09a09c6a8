// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/nirvana/step_choice.hpp>

#include <algorithm>

namespace atelier::planning::nirvana {

namespace {

std::optional<resume_point> resume_from(const match& m, size_t index,
                                        const skip_table& table) {
  resume_point p;
  p.match = index;
  p.wished = allowed_skip(table, m.similarity, threshold_rule::above);
  for (const uint32_t k : m.stored)
    if (k <= p.wished)
      p.used = std::max(p.used, k);
  if (p.used == 0)
    return std::nullopt;
  return p;
}

} // namespace

skip_table published_table() {
  return {{5, 0.65}, {10, 0.75}, {15, 0.85}, {20, 0.9}, {25, 0.95}};
}

std::optional<resume_point> resume_nearest(std::span<const match> near,
                                           const skip_table& table) {
  if (near.empty())
    return std::nullopt;
  return resume_from(near.front(), 0, table);
}

std::optional<resume_point> resume_furthest(std::span<const match> near,
                                            const skip_table& table) {
  std::optional<resume_point> best;
  for (size_t i = 0; i < std::min(near.size(), neighbours); ++i)
    if (const auto p = resume_from(near[i], i, table);
        p && (!best || p->used > best->used))
      best = p;
  return best;
}

bool starts_fresh(core::philox& random, double share) {
  return random.uniform() < share;
}

} // namespace atelier::planning::nirvana
