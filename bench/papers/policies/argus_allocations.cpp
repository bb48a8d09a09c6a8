// SPDX-License-Identifier: Apache-2.0
#include <atelier/bench/papers/policies/argus_allocations.hpp>

namespace atelier::papers {

using namespace planning::argus;

core::result<allocation> allocate_alone(const ladder& levels,
                                        const load_to_place& asked) {
  const double each =
    asked.workers > 0 ? asked.rate / asked.workers : asked.rate;
  uint32_t level = 0;
  while (level + 1 < levels.size() && levels[level].seconds * each > 1)
    ++level;
  return allocate_fixed(levels, asked, level);
}

core::result<allocation> allocate_fixed(const ladder& levels,
                                        const load_to_place& asked,
                                        uint32_t level) {
  if (level >= levels.size())
    return core::fail(core::ec::invalid_argument,
                      "level {} of {} does not exist", level, levels.size());
  // A ladder of one level allows only one plan.
  auto out = allocate_counts({levels[level]}, asked);
  if (!out)
    return out;
  const auto spread = [&](auto& list) {
    const auto value = list.front();
    list.assign(levels.size(), {});
    list[level] = value;
  };
  spread(out->workers);
  spread(out->load);
  spread(out->share);
  return out;
}

} // namespace atelier::papers
