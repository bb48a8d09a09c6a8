// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/allocation.hpp>
#include <atelier/planning/solver/linear_program.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::test {

/// Returns the same optimum as planning::diffserve::allocate, by lp_solve, with
/// a binary for each batch size and threshold, and a count of workers for each
/// batch size. It ignores `bypass`.
/// Errors: ec::unavailable if the program has no solution.
/// Source: DiffServe, section 3.3, Eq. 1-5, made linear over the thresholds.
/// @pre the problem is sound
inline core::result<planning::diffserve::cascade_plan> allocate_by_programme(
  const planning::diffserve::cascade_problem& asked) {
  using namespace planning;
  using namespace planning::diffserve;
  linear_program p;
  const auto binary = [&](const char* name, double gain) {
    return p.add(lp_column{name, gain, 0, 1, true});
  };
  const auto heavy_on = binary("heavy leg", 0);
  lp_row one_threshold{"one threshold", {}, lp_relation::equal, 1};
  lp_row serve_light{"light serves", {}, lp_relation::at_least, asked.demand};
  lp_row serve_heavy{"heavy serves", {}, lp_relation::at_least, 0};
  lp_row count{
    "workers", {}, lp_relation::at_most, static_cast<double>(asked.workers)};
  lp_row in_time{
    "deadline", {}, lp_relation::at_most, asked.slo - asked.wait_light};
  in_time.terms.push_back({heavy_on, asked.wait_heavy});
  std::vector<lp_column_id> at;
  for (size_t k = 0; k < thresholds; ++k) {
    at.push_back(binary("threshold", threshold_at(k)));
    const bool open = asked.deferred[k] <= asked.most_deferred
                   && asked.threshold.value_or(k) == k;
    if (!open)
      p.columns.back().most = 0;
    one_threshold.terms.push_back({at.back(), 1});
    serve_heavy.terms.push_back({at.back(), -asked.demand * asked.deferred[k]});
  }
  // Without the heavy leg, the threshold is 0.
  p.add(lp_row{"nothing to defer to",
               {{at[0], 1}, {heavy_on, 1}},
               lp_relation::at_least,
               1});

  struct size_of {
    uint32_t batch;
    lp_column_id chosen;
    lp_column_id workers;
  };

  std::vector<size_of> sizes[2];
  for (size_t m = 0; m < 2; ++m) {
    const leg_times& of = m == 0 ? asked.light : asked.heavy;
    // A fixed batch may be between the profiled ones.
    auto batches = of.batches;
    if (const auto& only = m == 0 ? asked.light_batch : asked.heavy_batch)
      batches = {{*only, batch_seconds(of, std::max(*only, 1u))}};
    lp_row one_batch{
      "one batch size", {}, lp_relation::equal, m == 0 ? 1.0 : 0};
    if (m == 1)
      one_batch.terms.push_back({heavy_on, -1});
    for (const batch_time& b : batches) {
      const auto y = binary("batch", 0);
      const auto w = p.add(
        lp_column{"workers", 0, 0, static_cast<double>(asked.workers), true});
      p.add(lp_row{"workers of the batch",
                   {{w, 1}, {y, -static_cast<double>(asked.workers)}},
                   lp_relation::at_most,
                   0});
      one_batch.terms.push_back({y, 1});
      count.terms.push_back({w, 1});
      in_time.terms.push_back({y, asked.execution_factor * b.seconds});
      (m == 0 ? serve_light : serve_heavy)
        .terms.push_back({w, b.batch / b.seconds});
      sizes[m].push_back({b.batch, y, w});
    }
    p.add(std::move(one_batch));
  }
  for (lp_row* r :
       {&one_threshold, &serve_light, &serve_heavy, &count, &in_time})
    p.add(std::move(*r));
  const auto found = solve(p);
  if (!found)
    return found.why();
  if (!found->has_values())
    return core::fail(core::ec::unavailable,
                      "no allocation: the solver says {}",
                      to_string(found->status));
  cascade_plan out;
  const auto& x = found->values;
  for (size_t k = 0; k < thresholds; ++k)
    if (x[at[k].value] > 0.5)
      out.threshold = k;
  for (size_t m = 0; m < 2; ++m)
    for (const size_of& s : sizes[m]) {
      const auto workers =
        static_cast<uint32_t>(std::lround(x[s.workers.value]));
      (m == 0 ? out.light : out.heavy) += workers;
      if (x[s.chosen.value] > 0.5)
        (m == 0 ? out.light_batch : out.heavy_batch) = s.batch;
    }
  out.threshold = lowest_equal(asked.deferred, out.threshold);
  out.deferred = asked.deferred[out.threshold];
  return out;
}

} // namespace atelier::test
