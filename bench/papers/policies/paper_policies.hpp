// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policy.hpp>

namespace atelier::papers {

/// Returns the papers' baselines and ablations that servers do not make, for
/// planning::make_policy's `more`: exactly those of which
/// planning::is_for_comparisons is true, in the order of
/// planning::policy_rows.
/// Threads: any.
const planning::policy_list& paper_policies();

} // namespace atelier::papers
