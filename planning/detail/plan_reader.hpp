// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/detail/plan_fields.hpp>
#include <atelier/planning/json_reader.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policy.hpp>

#include <string_view>

namespace atelier::planning::detail {

inline constexpr std::string_view plan_format = "atelier.plan";

inline constexpr words<joining, 3> joinings{{"step", "whole_batch", "single"}};
inline constexpr words<origin, 5> origins{
  {"noise", "latent", "image", "stage_image", "template_image"}};
inline constexpr words<late_rule, 2> late_rules{{"drop", "answer_best"}};
/// Returns the plan of a document.
/// Errors: those of parse_plan.
core::result<saved_plan> read_plan(const json& document, std::string_view where,
                                   const profile& known,
                                   const policy_list& more);

} // namespace atelier::planning::detail
