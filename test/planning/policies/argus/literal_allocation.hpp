// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/argus/allocation.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::test {

/// Solves Eq. 1 of Argus as published, with a binary for each worker and level;
/// the product of share and binary is linearised. It is slow above ten workers,
/// and ignores `hosting` and `load_price`.
/// Errors: ec::unavailable: no plan.
/// @pre the ladder and the load are sound
inline core::result<planning::argus::allocation> allocate_literal(
  const planning::argus::ladder& levels,
  const planning::argus::load_to_place& asked) {
  using namespace planning;
  linear_program p;
  lp_row all{"load", {}, lp_relation::equal, asked.rate};
  std::vector<std::vector<lp_column_id>> x(asked.workers);
  std::vector<std::vector<lp_column_id>> y(asked.workers);
  for (uint32_t w = 0; w < asked.workers; ++w) {
    lp_row one{fmt::format("worker {}", w), {}, lp_relation::at_most, 1};
    for (const argus::level& v : levels) {
      x[w].push_back(
        p.add(lp_column{fmt::format("{} on {}", v.name, w), 0, 0, 1, true}));
      y[w].push_back(p.add(
        lp_column{fmt::format("load of {} on {}", v.name, w), v.quality}));
      one.terms.push_back({x[w].back(), 1});
      all.terms.push_back({y[w].back(), 1});
      p.add(lp_row{fmt::format("capacity of {} on {}", v.name, w),
                   {{y[w].back(), 1}, {x[w].back(), -v.rate()}},
                   lp_relation::at_most,
                   0});
    }
    p.add(std::move(one));
  }
  p.add(std::move(all));
  const auto found = solve(p);
  if (!found)
    return found.why();
  if (!found->has_values())
    return core::fail(core::ec::unavailable,
                      "no allocation: the solver says {}",
                      to_string(found->status));
  argus::allocation out;
  out.workers.assign(levels.size(), 0);
  out.load.assign(levels.size(), 0);
  for (uint32_t w = 0; w < asked.workers; ++w)
    for (size_t v = 0; v < levels.size(); ++v) {
      out.workers[v] += found->values[x[w][v].value] > 0.5 ? 1u : 0u;
      out.load[v] += std::max(0.0, found->values[y[w][v].value]);
    }
  out.share.assign(levels.size(), 0);
  for (size_t v = 0; v < levels.size(); ++v) {
    out.quality += levels[v].quality * out.load[v];
    out.share[v] = asked.rate > 0 ? out.load[v] / asked.rate : v == 0;
  }
  return out;
}

} // namespace atelier::test
