// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/allocation.hpp>

#include <cstdint>

namespace atelier::papers {

/// Allocates as Proteus: finds the largest fraction h of requests that the
/// heavy variant can serve. Each request is assigned at random and answered by
/// one variant: max h subject to x1 T1 >= D (1 - h), x2 T2 >= D h, x1 + x2 <=
/// workers and 2 e(b) <= slo for both. `deferred` of the plan is h, and no
/// image is judged. Under overload, all workers run the light variant and admit
/// what it can serve.
/// Errors: those of planning::diffserve::allocate.
/// Source: DiffServe, section 4.1, which does not state the form.
core::result<planning::diffserve::cascade_plan> allocate_random(
  const planning::diffserve::cascade_problem& asked);

/// Allocates as Clipper: all workers run one variant, without a cascade.
/// `batch` is fixed; the artifact uses 1, the paper finds it by trial
/// (planning::diffserve::trial_batch).
/// Source: DiffServe, section 4.1.
planning::diffserve::cascade_plan allocate_single(
  const planning::diffserve::cascade_problem& asked, bool heavy,
  uint32_t batch = 1);

/// Allocates as DiffServe-Static: one plan for the peak of demand, which is
/// never changed.
/// Errors: those of planning::diffserve::allocate.
/// Source: DiffServe, section 4.1.
core::result<planning::diffserve::cascade_plan> allocate_for_peak(
  planning::diffserve::cascade_problem asked, double peak_demand);

} // namespace atelier::papers
