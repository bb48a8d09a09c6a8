// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/allocation.hpp>

#include <optional>

namespace atelier::planning::diffserve {

/// Allocates as Proteus: finds the largest fraction h of requests that the
/// heavy variant can serve. Each request is assigned at random and answered by
/// one variant: max h subject to x1 T1 >= D (1 - h), x2 T2 >= D h, x1 + x2 <=
/// workers and 2 e(b) <= slo for both. `deferred` of the plan is h, and no
/// image is judged. Under overload, all workers run the light variant and admit
/// what it can serve.
/// Errors: those of allocate.
/// Source: DiffServe, section 4.1, which does not state the form.
core::result<cascade_plan> allocate_random(const cascade_problem& asked);

/// Allocates as Clipper: all workers run one variant, without a cascade.
/// `batch` is fixed; the artifact uses 1, the paper finds it by trial
/// (trial_batch).
/// Source: DiffServe, section 4.1.
cascade_plan allocate_single(const cascade_problem& asked, bool heavy,
                             uint32_t batch = 1);

/// Allocates as DiffServe-Static: one plan for the peak of demand, which is
/// never changed.
/// Errors: those of allocate.
/// Source: DiffServe, section 4.1.
core::result<cascade_plan> allocate_for_peak(cascade_problem asked,
                                             double peak_demand);

} // namespace atelier::planning::diffserve
