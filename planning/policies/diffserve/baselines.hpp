// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/diffserve/allocation.hpp>

#include <optional>

namespace atelier::planning::diffserve {

/// Proteus: the largest share h of requests that the heavy variant can serve,
/// each request drawn without looking at it and answered by one variant alone:
/// max h subject to x1 T1 >= D (1 - h), x2 T2 >= D h, x1 + x2 <= workers and
/// 2 e(b) <= slo for both. `deferred` of the plan is h, and nothing is judged.
/// Overload: all workers on the light variant, with what it can admit.
/// Errors: those of allocate.
/// Source: DiffServe, section 4.1, which does not state the form.
core::result<cascade_plan> allocate_random(const cascade_problem& asked);

/// Clipper: all workers on one variant, no cascade. `batch` fixed; its artifact
/// takes 1, the paper finds it by trial (trial_batch).
/// Source: DiffServe, section 4.1.
cascade_plan allocate_single(const cascade_problem& asked, bool heavy,
                             uint32_t batch = 1);

/// DiffServe-Static: one plan for the peak of demand, kept for ever.
/// Errors: those of allocate.
/// Source: DiffServe, section 4.1.
core::result<cascade_plan> allocate_for_peak(cascade_problem asked,
                                             double peak_demand);

} // namespace atelier::planning::diffserve
