// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/json_reader.hpp>
#include <atelier/planning/plan_file.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace atelier::planning::detail {

inline constexpr std::string_view plan_format = "atelier.plan";

/// The words of an enumeration, in its order.
template <class Enum, size_t N>
struct words {
  std::array<std::string_view, N> all;

  std::string_view operator()(Enum x) const {
    return all[static_cast<size_t>(x)];
  }
};

inline constexpr words<joining, 3> joinings{{"step", "whole_batch", "single"}};
inline constexpr words<origin, 5> origins{
  {"noise", "latent", "image", "stage_image", "template_image"}};
inline constexpr words<late_rule, 2> late_rules{{"drop", "answer_best"}};
inline constexpr words<argus::switch_phase, 4> phases{
  {"latents", "leaving", "models", "returning"}};

/// Returns the plan that a document says.
/// Errors: those of parse_plan.
core::result<saved_plan> read_plan(const json& document, std::string_view where,
                                   const profile& known);

} // namespace atelier::planning::detail
