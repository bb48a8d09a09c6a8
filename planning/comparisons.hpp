// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace atelier::planning {

/// Returns whether a policy of policy_rows is a paper's baseline or ablation
/// that servers do not make. bench/papers makes it, and programs that compare
/// policies pass it to make_policy as one of `more`.
bool is_for_comparisons(std::string_view name);

/// Returns whether the text of a plan file names such a policy. A text that is
/// no JSON object names none.
bool plan_is_for_comparisons(std::string_view plan_json);

} // namespace atelier::planning
